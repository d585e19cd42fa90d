import { expect, it, vi } from 'vitest';
import { createActor } from 'xstate';
import { createWatchDeadlines } from '../../../src/actors/tasks/task-registry.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';
import { nine } from '../../helpers/test-system.ts';

it('deadlines are read again from a store that failed, and none is missed', async () => {
  const clock = new ManualClock(nine);
  const logged: string[] = [];
  const woken: string[] = [];
  let reads = 0;
  const rows = {
    overdue: async (): Promise<string[]> => {
      reads += 1;
      if (reads === 1) throw new Error('the store is gone');
      return ['t-1'];
    },
    nextDeadline: async () => null,
  };
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_: object, message: string) => void logged.push(message),
  };
  const wake = (id: string): void => void woken.push(id);
  const watching = createActor(createWatchDeadlines({ rows: rows as never, clock, log, wake }));
  watching.start();
  await vi.waitFor(() => expect(logged).toHaveLength(1), patient);
  await vi.waitFor(() => expect(clock.pending).toBe(1), patient);
  clock.advance(5_000);
  await vi.waitFor(() => expect(woken).toEqual(['t-1']), patient);
  expect(logged).toEqual(['tasks: the deadlines cannot be read; retrying']);
  watching.stop();
});

it('each of many due tasks is woken once, while others become due', async () => {
  const clock = new ManualClock(nine);
  const error = vi.fn();
  const log = { info: () => undefined, warn: () => undefined, error };
  const said: string[] = [];
  const ids = Array.from({ length: 60 }, (_, index) => `t-${index}`);
  const rows = {
    overdue: async (): Promise<string[]> => {
      said.push('looks');
      return said.length === 1 ? ids : ['t-60'];
    },
    nextDeadline: async () => null,
  };
  const wake = (id: string): void => {
    said.push(id);
    if (id === 't-0') watching.send({ type: 'deadline.known', at: nine });
  };
  const logic = createWatchDeadlines({ rows: rows as never, clock, log, wake });
  const watching = createActor(logic).start();
  await vi.waitFor(() => expect(said).toContain('t-60'), patient);
  watching.stop();
  expect(said).toEqual(['looks', ...ids, 'looks', 't-60']);
  expect(error.mock.calls).toEqual([]);
});
