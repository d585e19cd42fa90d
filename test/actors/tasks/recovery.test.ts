import { expect, it, vi } from 'vitest';
import { type RecoveryPorts, recover } from '../../../src/actors/tasks/recovery.ts';
import { patient } from '../../helpers/patient.ts';

/** The ports of a recovery with these parked tasks. */
function portsOf(ids: readonly string[], tasks: object, log: object = {}): RecoveryPorts {
  const rows = {
    ...{ strangers: async () => [], working: async () => [], rulings: async () => ['a', 'b'] },
    parked: async (but: readonly string[]) => (but.length === 0 ? ids : []),
  };
  const wouldRuleAgain = async () => false;
  return {
    tasks: { start: () => undefined, isStopped: false, wouldRuleAgain, ...tasks },
    store: { rows, releases: { keep: async () => undefined } },
    ...{ shared: null, onRestart: 'resume', release: '1', log },
  } as unknown as RecoveryPorts;
}

const many = Array.from({ length: 1_500 }, (_, at) => `t-${at}`);

it('the service starts before the last of many waiting calls is ruled on again', async () => {
  const reviewed: string[] = [];
  const review = async (id: string) => void reviewed.push(id);
  await recover(portsOf(many, { review }));
  expect(reviewed.length).toBeLessThan(1_100);
  await vi.waitUntil(() => reviewed.length === 1_500, patient);
  expect(reviewed.toSorted()).toEqual(many.toSorted());
});

it.each([true, false])('later reviews stop with the system: %s', async (isStopped) => {
  const tasks = {
    isStopped: false,
    review: async (id: string) => {
      if (id === 't-1200') {
        tasks.isStopped = isStopped;
        throw new Error('database is not open');
      }
    },
  };
  const errors: string[] = [];
  const log = { error: (_: object, message: string) => void errors.push(message) };
  const ports = portsOf(many, {}, log);
  await recover({
    ...ports,
    tasks: Object.assign(tasks, {
      start: () => undefined,
      wouldRuleAgain: async () => false,
    }) as never,
  });
  const expected = isStopped ? [] : ['tasks: some waiting calls were not ruled on again'];
  await vi.waitUntil(() => tasks.isStopped || errors.length > 0, patient);
  expect(errors).toEqual(expected);
});

it('waiting calls are ruled on concurrently at the start, as one server may be silent', async () => {
  const ids = Array.from({ length: 200 }, (_, at) => `t-${at}`);
  const silent = Promise.withResolvers<void>();
  const reviewed: string[] = [];
  const review = async (id: string) => {
    if (id === 't-0') await silent.promise;
    reviewed.push(id);
    if (reviewed.length === 199) silent.resolve();
  };
  await recover(portsOf(ids, { review }));
  expect(reviewed).toEqual([...ids.slice(1), 't-0']);
});

it('a waiting call is not ruled on at the start where its ruling is still valid', async () => {
  const excluded: unknown[] = [];
  const ports = portsOf([], { wouldRuleAgain: async (made: string) => made === 'b' });
  const rows = { ...ports.store.rows, parked: async (but: unknown) => [excluded.push(but)] };
  const reviewed: unknown[] = [];
  const tasks = { ...ports.tasks, review: async (id: unknown) => void reviewed.push(id) };
  await recover({ ...ports, store: { ...ports.store, rows }, tasks } as never);
  expect({ excluded, reviewed }).toEqual({ excluded: [['b']], reviewed: [1] });
});
