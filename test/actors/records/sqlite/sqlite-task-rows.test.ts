import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { aParkedTask, aTask } from '../../../helpers/stored-tasks.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

let store: SqliteStore;

beforeEach(async () => {
  store = await openStore(temporaryFolder());
});
afterEach(() => store.close());

const keep = (...tasks: Task[]): Promise<void> => keepTasks(store, tasks);

const idsOf = (tasks: Task[]): string[] => tasks.map(({ id }) => id);

describe('deleting ended tasks', () => {
  it('removes final ones that ended before a time, a limited number at once', async () => {
    await keep(
      ...(['completed', 'failed', 'canceled', 'working', 'completed'] as const).map(
        (state, index) => aTask({ id: `t-${index}`, state, changedAt: index }),
      ),
      aParkedTask('parked', 5),
    );
    expect(store.rows.deleteEnded(3, 2)).toBe(2);
    expect(store.rows.deleteEnded(3, 2)).toBe(1);
    expect(store.rows.deleteEnded(3, 2)).toBe(0);
    expect(idsOf((await store.rows.listing.made({ limit: 9 })).tasks)).toEqual([
      'parked',
      't-4',
      't-3',
    ]);
    expect(await store.deleteEnded(5)).toBe(1);
    expect(await store.rows.find('t-4')).toBeUndefined();
  });
});
