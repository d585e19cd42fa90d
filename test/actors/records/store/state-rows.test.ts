import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskStore } from '../../../../src/actors/records/store/task-store.ts';
import type { EnteredState } from '../../../../src/machines/task/entered-state.ts';
import { taskMachineVersion } from '../../../../src/machines/task/snapshot-steps.ts';
import { kindsOfStores, type StorePlace } from '../../../helpers/kinds-of-stores.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';

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

function save(
  store: TaskStore,
  revision: number,
  entered: EnteredState[],
  task = aTask(),
): Promise<void> {
  return store.save(task.id, () => aWrite({ ...task, revision }, { entered }));
}

describe.each(kindsOfStores)('$kind', ({ make }) => {
  let place: StorePlace;
  let store: TaskStore;

  beforeEach(async () => {
    place = await make();
    store = await place.open();
  });

  const rows = async (): Promise<number> =>
    (await place.execute('SELECT task_id FROM task_states')).length;

  it('replace those that a deleted task of the same id left behind', async () => {
    await place.execute(
      "INSERT INTO task_states (task_id, first, entered, states) VALUES ('t-1', 1, 1, '[]')",
    );
    const saved = save(store, 1, states(1, 2));
    await store.flush();
    await saved;
    expect((await store.rows.states.of('t-1')).states).toEqual(states(1, 2));
  });

  describe('the state history of a task', () => {
    it('is stored commit by commit, each once, over a restart', async () => {
      await save(store, 1, states(1, 3));
      await save(store, 2, []);
      await store.close();
      store = await place.open();
      await save(store, 3, states(4, 4));
      expect(await store.rows.states.of('t-1')).toEqual({
        states: states(1, 4),
        leftOut: 0,
        version,
      });
    });

    it('contains the first and the latest 499 states of a longer one', async () => {
      for (let commit = 0; commit < 300; commit += 1) {
        await save(store, commit + 1, states(commit * 3 + 1, commit * 3 + 3));
      }
      expect(await store.rows.states.of('t-1')).toEqual({
        states: [state(1), ...states(402, 900)],
        leftOut: 400,
        version,
      });
    });

    it('does not grow beyond 500', async () => {
      for (let commit = 1; commit <= 520; commit += 1) {
        await save(store, commit, [state(commit)]);
      }
      expect(await rows()).toBe(500);
    });

    it('contains no refused change', async () => {
      await save(store, 1, states(1, 1));
      await expect(save(store, 5, states(2, 2))).rejects.toThrow('changed by another process');
      expect((await store.rows.states.of('t-1')).states).toEqual(states(1, 1));
    });

    it('is deleted with its task only', async () => {
      await save(store, 1, states(1, 2), aTask({ id: 't-1', state: 'completed', changedAt: 1 }));
      await save(store, 1, states(1, 3), aTask({ id: 't-2' }));
      expect(await store.deleteEnded(2)).toBe(1);
      expect(await store.rows.states.of('t-1')).toEqual({ states: [], leftOut: 0, version: 0 });
      expect((await store.rows.states.of('t-2')).states).toEqual(states(1, 3));
      expect(await rows()).toBe(1);
    });
  });
});
