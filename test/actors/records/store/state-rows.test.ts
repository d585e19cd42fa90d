import { DatabaseSync } from 'node:sqlite';
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
  it('are kept commit by commit, each once, over a restart', async () => {
    const directory = temporaryFolder();
    let store = await openStore(directory);
    await save(store, 1, states(1, 3));
    await save(store, 2, []);
    store.close();
    store = await openStore(directory);
    await save(store, 3, states(4, 4));
    expect(store.rows.states.of('t-1')).toEqual({ states: states(1, 4), leftOut: 0, version });
    store.close();
  });

  it('are the first one and the latest 499 of a task that has entered more', async () => {
    const store = await openStore(temporaryFolder());
    for (let commit = 0; commit < 300; commit += 1) {
      await save(store, commit + 1, states(commit * 3 + 1, commit * 3 + 3));
    }
    expect(store.rows.states.of('t-1')).toEqual({
      states: [state(1), ...states(402, 900)],
      leftOut: 400,
      version,
    });
    store.close();
  });

  it('take no more room once there are 500', async () => {
    const directory = temporaryFolder();
    const store = await openStore(directory);
    for (let commit = 1; commit <= 1_200; commit += 1) {
      await save(store, commit, states(commit, commit));
    }
    store.close();
    expect(rowsIn(directory)).toBe(500);
  });

  it('are not kept of a change that was refused', async () => {
    const store = await openStore(temporaryFolder());
    await save(store, 1, states(1, 1));
    await expect(save(store, 5, states(2, 2))).rejects.toThrow('changed by another process');
    expect(store.rows.states.of('t-1').states).toEqual(states(1, 1));
    store.close();
  });

  it('go with their task, and stay with every other', async () => {
    const directory = temporaryFolder();
    const store = await openStore(directory);
    await save(store, 1, states(1, 2), aTask({ id: 't-1', state: 'completed', changedAt: 1 }));
    await save(store, 1, states(1, 3), aTask({ id: 't-2' }));
    expect(store.deleteEnded(2)).toBe(1);
    expect(store.rows.states.of('t-1')).toEqual({ states: [], leftOut: 0, version: 0 });
    expect(store.rows.states.of('t-2').states).toEqual(states(1, 3));
    store.close();
    expect(rowsIn(directory)).toBe(1);
  });

  it.each([2, 3, 4, 5])('begin with the next commit in a store of version %i', async (older) => {
    const directory = temporaryFolder();
    let store = await openStore(directory);
    await save(store, 1, states(1, 2));
    store.close();
    makeOlder(storeFiles(directory).path, older);
    store = await openStore(directory);
    expect(store.rows.states.of('t-1')).toEqual({ states: [], leftOut: 0, version });
    await save(store, 2, states(3, 3));
    expect(store.rows.states.of('t-1').states).toEqual(states(3, 3));
    store.close();
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

function rowsIn(directory: string): number {
  const database = new DatabaseSync(storeFiles(directory).path);
  const rows = database.prepare('SELECT count(*) AS rows FROM task_states').get();
  database.close();
  return Number(rows?.['rows']);
}
