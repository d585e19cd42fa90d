import { expect, it, vi } from 'vitest';
import { UnreachableError } from '../../../src/actors/records/store/task-store.ts';
import { whenReachable } from '../../../src/actors/tasks/when-reachable.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';

function reading(outcomes: (string | Error)[]) {
  const clock = new ManualClock(0);
  const left = new AbortController();
  const read = vi.fn(async () => {
    const outcome = outcomes.shift();
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  return { clock, left, read, found: whenReachable(read, { clock, signal: left.signal }) };
}

const away = () => new UnreachableError(new Error('gone'));

it('a read is repeated each second until the store is reachable', async () => {
  const { clock, read, found } = reading([away(), away(), 'a task']);
  for (let tries = 1; tries <= 2; tries += 1) {
    await vi.waitFor(
      () => expect([clock.pending, read.mock.calls.length]).toEqual([1, tries]),
      patient,
    );
    clock.advance(1_000);
  }
  expect(await found).toBe('a task');
  expect(clock.pending).toBe(0);
});

it('a read that fails otherwise is not repeated', async () => {
  const { read, found } = reading([new Error('torn'), 'a task']);
  await expect(found).rejects.toThrow('torn');
  expect(read).toHaveBeenCalledTimes(1);
});

it('a read stops when its caller has disconnected', async () => {
  const { clock, left, read, found } = reading([away(), away(), away()]);
  await vi.waitFor(() => expect(clock.pending).toBe(1), patient);
  left.abort();
  await expect(found).rejects.toThrow(UnreachableError);
  expect([read.mock.calls.length, clock.pending]).toEqual([2, 0]);
});
