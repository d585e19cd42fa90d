import { describe, expect, it } from 'vitest';
import type { Caller, Task } from '../../../../src/machines/domain/task.ts';
import { scopeOf } from '../../../../src/machines/task/task-access.ts';
import { makeOlder } from '../../../helpers/older-store.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { aDeferral } from '../../../helpers/task-fixtures.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

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
    await store.close();
    makeOlder(storeFiles(directory).path, version);
    const newer = await openStore(directory);
    const shown = async (who: Caller, access: 'org' | 'requester') =>
      (await newer.rows.listing.made({ limit: 9 }, scopeOf(access, who))).tasks
        .map(({ id }) => id)
        .toSorted();
    const bob: Caller = { provider: 'idp', userId: 'bob', email: 'bob@x.example' };
    expect(await shown({ ...ann, orgId: 'globex' }, 'org')).toEqual(['of-nobody']);
    expect(await shown(ann, 'org')).toEqual(['held', 'of-ann', 'of-nobody', 'open-to-all']);
    expect(await shown(ann, 'requester')).toEqual(['held', 'of-ann', 'open-to-all']);
    expect(await shown(bob, 'requester')).toEqual(['held']);
    await newer.close();
  });
});
