import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Caller, Task } from '../../../../src/machines/task/task.ts';
import { isWithin, scopeOf } from '../../../../src/machines/task/task-access.ts';
import { makeOlder } from '../../../helpers/older-store.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { aDeferral } from '../../../helpers/task-fixtures.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

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
});

function taskOf(id: string, { requester, owner, approvers: list }: any): Task {
  const deferral = list === undefined ? null : aDeferral({ id: `${id}-d`, approvers: list });
  return aTask({
    id,
    requester,
    ...(owner === undefined ? {} : { owner }),
    deferral,
    state: deferral === null ? 'completed' : 'deferred',
  });
}

describe('the list of a scope', () => {
  it('holds what the rule lets through and nothing else, however it is filtered', async () => {
    const store = await openStore(temporaryFolder());
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
          const expected = (state?: Task['state']) =>
            ids(tasks.filter((task) => isWithin(scope, task) && (!state || task.state === state)));
          const { listing } = store.rows;
          for (const state of [undefined, 'deferred', 'completed'] as const) {
            const filter = state === undefined ? {} : { state };
            expect(ids(listing.made({ ...filter, limit: 5_000 }, scope).tasks)).toEqual(
              expected(state),
            );
            const page = { ...filter, contextId, limit: 50 };
            expect(ids(listing.changed(page, scope).tasks)).toEqual(expected(state));
            expect(listing.total({ ...filter, contextId }, scope)).toBe(expected(state).length);
          }
        },
      ),
      { numRuns: 60 },
    );
    store.close();
  });

  it('follows a task into another organisation, and forgets its approvers with their wait', async () => {
    const store = await openStore(temporaryFolder());
    const ann: Caller = { provider: 'idp', userId: 'ann', orgId: 'acme' };
    const bob: Caller = { provider: 'idp', userId: 'bob', email: 'bob@x.example' };
    const shown = (who: Caller, access: 'org' | 'requester') =>
      store.rows.listing.made({ limit: 9 }, scopeOf(access, who)).tasks.length;
    const globex: Caller = { ...ann, orgId: 'globex' };
    const first = taskOf('t', { requester: null, approvers: ['bob@x.example'] });
    await store.save('t', () => aWrite(first));
    expect([shown(globex, 'org'), shown(bob, 'requester')]).toEqual([1, 1]);
    const second = { ...taskOf('t', { requester: ann, owner: ann }), revision: 2 };
    await store.save('t', () => aWrite(second));
    expect([shown(globex, 'org'), shown(bob, 'requester'), shown(ann, 'requester')]).toEqual([
      0, 0, 1,
    ]);
    expect(store.deleteEnded(2_000)).toBe(1);
    store.close();
  });
});

describe.each([2, 3])('a store of version %i', (version) => {
  it('knows whose its tasks were', async () => {
    const directory = temporaryFolder();
    const store = await openStore(directory);
    const ann: Caller = { provider: 'idp', userId: 'ann', orgId: 'acme' };
    const tasks = [
      taskOf('of-ann', { requester: ann }),
      taskOf('of-nobody', { requester: null }),
      taskOf('held', { requester: ann, approvers: ['bob@x.example', 'bob@x.example'] }),
      taskOf('open-to-all', { requester: ann, approvers: null }),
    ];
    for (const task of tasks) void store.save(task.id, () => aWrite(task));
    store.close();
    makeOlder(storeFiles(directory).path, version);
    const newer = await openStore(directory);
    const shown = (who: Caller, access: 'org' | 'requester') =>
      newer.rows.listing
        .made({ limit: 9 }, scopeOf(access, who))
        .tasks.map(({ id }) => id)
        .toSorted();
    const bob: Caller = { provider: 'idp', userId: 'bob', email: 'bob@x.example' };
    expect(shown({ ...ann, orgId: 'globex' }, 'org')).toEqual(['of-nobody']);
    expect(shown(ann, 'org')).toEqual(['held', 'of-ann', 'of-nobody', 'open-to-all']);
    expect(shown(ann, 'requester')).toEqual(['held', 'of-ann', 'open-to-all']);
    expect(shown(bob, 'requester')).toEqual(['held']);
    newer.close();
  });
});
