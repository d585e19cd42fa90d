import { expect, it, onTestFinished, vi } from 'vitest';
import { type RecoveryPorts, recover } from '../../../src/actors/tasks/recovery.ts';
import { patient } from '../../helpers/patient.ts';

/** The ports of a recovery with these parked tasks. */
function portsOf(ids: readonly string[], tasks: object, log: object = {}): RecoveryPorts {
  const rows = {
    ...{ strangers: async () => [], working: async () => [], rulings: async () => ['a', 'b'] },
    parked: async (but: readonly string[]) => (but.length === 0 ? ids : []),
  };
  const wouldRuleAgain = async () => false;
  const quiet = () => undefined;
  const releases = { keep: async () => undefined, find: async () => '1' };
  return {
    tasks: { start: quiet, noticeReviewed: quiet, isStopped: false, wouldRuleAgain, ...tasks },
    store: { rows, releases },
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

/** Recovers where the ruling `b` is still valid; returns what was excluded from the review, and what happened. */
async function recovered(release: string, of: Partial<RecoveryPorts> = {}) {
  const happened: unknown[] = [];
  const ports = portsOf([], {
    wouldRuleAgain: async (made: string) => made === 'b',
    review: async (id: string) => void happened.push(`reviewed ${id}`),
    noticeReviewed: () => void happened.push('own'),
  });
  const keep = async (_: number, kept: string) => void happened.push(`kept ${kept}`);
  const parked = async (but: string[]) => [`but ${but.join()}`];
  const store = {
    ...ports.store,
    rows: { ...ports.store.rows, parked },
    releases: { keep, find: async () => '1' },
  };
  await recover({ ...ports, ...of, store, release } as never);
  return happened;
}

it('a waiting call is not ruled on at the start where its ruling is still valid', async () => {
  expect(await recovered('1')).toEqual(['reviewed but b', 'kept 1', 'own']);
});

it('every waiting call is ruled on at the first start of another release', async () => {
  expect(await recovered('2')).toEqual(['reviewed but ', 'kept 2', 'own']);
});

it('the start waits for no tool that does not answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const silent = portsOf(['t-0'], { wouldRuleAgain: () => new Promise(() => undefined) });
  const reviewed: string[] = [];
  const tasks = { ...silent.tasks, review: async (id: string) => void reviewed.push(id) };
  const started = recover({ ...silent, tasks } as never);
  await vi.advanceTimersByTimeAsync(1_000);
  await started;
  expect(reviewed).toEqual(['t-0']);
});
