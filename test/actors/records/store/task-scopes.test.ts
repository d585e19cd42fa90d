import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ListedState } from '../../../../src/actors/records/store/task-page.ts';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import { type Caller, shownState, type Task } from '../../../../src/machines/domain/task.ts';
import { isWithin, scopeOf } from '../../../../src/machines/task/task-access.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { runs } from '../../../helpers/runs.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { aDeferral } from '../../../helpers/task-fixtures.ts';

const caller = fc.record(
  {
    provider: fc.constantFrom('idp', 'other', 'runtime', 'chat'),
    userId: fc.constantFrom('ann', 'bob', 'b\nob', ''),
    orgId: fc.constantFrom('acme', 'globex', "ac'me"),
    email: fc.constantFrom('ann@x.example', 'Bob@x.example ', 'no email', ''),
  },
  { requiredKeys: ['provider', 'userId'] },
) as fc.Arbitrary<Caller>;

const someone = fc.option(caller, { nil: null });

const approvers = fc.option(
  fc.array(fc.constantFrom('ann@x.example', 'bob@x.example', 'nonsense'), { maxLength: 3 }),
  { nil: null },
);

const made = fc.record({
  requester: someone,
  owner: fc.option(someone, { nil: undefined }),
  approvers: fc.option(approvers, { nil: undefined }),
  at: fc.constantFrom('work', 'bank', undefined),
});

function taskOf(id: string, { requester, owner, approvers: list, at }: any): Task {
  const deferral = list === undefined ? null : aDeferral({ id: `${id}-d`, approvers: list });
  return aTask({
    id,
    requester,
    ...(owner === undefined ? {} : { owner }),
    deferral,
    ...standing(at, deferral !== null),
  });
}

function isListed(task: Task, state: ListedState): boolean {
  return state === 'parked' ? task.state === 'deferred' : shownState(task) === state;
}

function standing(at: string | undefined, isHeld: boolean): Pick<Task, 'state' | 'waits'> {
  if (isHeld) return { state: 'deferred' };
  if (at === undefined) return { state: 'completed' };
  return { state: 'working', ...(at === 'bank' ? { waits: { at, for: 'desk' } } : {}) };
}

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  describe('the list of a scope', () => {
    it('contains exactly the permitted tasks, under any filter', async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(made, { minLength: 1, maxLength: 6 }),
          someone,
          fc.constantFrom('org' as const, 'requester' as const, 'any' as const),
          async (several, who, access) => {
            run += 1;
            const contextId = `c-${run}`;
            const tasks = several.map((each, at) => ({
              ...taskOf(`t-${run}-${at}`, each),
              contextId,
            }));
            await Promise.all(tasks.map((task) => store.save(task.id, () => aWrite(task))));
            const scope = scopeOf(access, who);
            const ids = (some: readonly Task[]) =>
              some
                .map(({ id }) => id)
                .filter((id) => id.startsWith(`t-${run}-`))
                .toSorted();
            const expected = (state?: ListedState) =>
              ids(
                tasks.filter((task) => isWithin(scope, task) && (!state || isListed(task, state))),
              );
            const { listing } = store.rows;
            for (const state of [...[undefined, 'deferred', 'parked', 'working', 'completed']] as (
              | ListedState
              | undefined
            )[]) {
              const filter = state === undefined ? {} : { state };
              expect(ids((await listing.made({ ...filter, limit: 5_000 }, scope)).tasks)).toEqual(
                expected(state),
              );
              const page = { ...filter, contextId, limit: 50 };
              expect(ids((await listing.changed(page, scope)).tasks)).toEqual(expected(state));
              expect(await listing.total({ ...filter, contextId }, scope)).toBe(
                expected(state).length,
              );
            }
          },
        ),
        { numRuns: runs(60) },
      );
    });

    it('follows a task into another organisation, and drops its approvers with their wait', async () => {
      const ann: Caller = { provider: 'idp', userId: 'ann', orgId: 'acme' };
      const bob: Caller = { provider: 'idp', userId: 'bob', email: 'bob@x.example' };
      const shown = async (who: Caller, access: 'org' | 'requester') =>
        (await store.rows.listing.made({ limit: 9 }, scopeOf(access, who))).tasks.length;
      const globex: Caller = { ...ann, orgId: 'globex' };
      const first = taskOf('t', { requester: null, approvers: ['bob@x.example'] });
      await store.save('t', () => aWrite(first));
      expect([await shown(globex, 'org'), await shown(bob, 'requester')]).toEqual([1, 1]);
      const second = { ...taskOf('t', { requester: ann, owner: ann }), revision: 2 };
      await store.save('t', () => aWrite(second));
      expect([
        await shown(globex, 'org'),
        await shown(bob, 'requester'),
        await shown(ann, 'requester'),
      ]).toEqual([0, 0, 1]);
      expect(await store.deleteEnded(2_000)).toBe(1);
    });
  });
});
