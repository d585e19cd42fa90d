import { describe, expect, it } from 'vitest';
import type { EnteredState } from '../../../../src/machines/task/entered-state.ts';
import { taskMachineVersion } from '../../../../src/machines/task/task-machine.ts';
import { makeOlder } from '../../../helpers/older-store.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

const state = (number: number): EnteredState => ({
  state: `s${number}`,
  event: `e${number}`,
  at: number,
});

/** The states from one number to another, both included. */
function states(first: number, last: number): EnteredState[] {
  return Array.from({ length: last - first + 1 }, (_, index) => state(first + index));
}

const version = taskMachineVersion;

describe('the states of a task', () => {
  it.each([2, 3, 4, 5])('begin with the next commit in a store of version %i', async (older) => {
    const directory = temporaryFolder();
    let store = await openStore(directory);
    await save(store, 1, states(1, 2));
    await store.close();
    makeOlder(storeFiles(directory).path, older);
    store = await openStore(directory);
    expect(await store.rows.states.of('t-1')).toEqual({ states: [], leftOut: 0, version });
    await save(store, 2, states(3, 3));
    expect((await store.rows.states.of('t-1')).states).toEqual(states(3, 3));
    await store.close();
  });
});

type Store = Awaited<ReturnType<typeof openStore>>;

function save(
  store: Store,
  revision: number,
  entered: EnteredState[],
  task = aTask(),
): Promise<void> {
  return store.save(task.id, () => aWrite({ ...task, revision }, { entered }));
}
