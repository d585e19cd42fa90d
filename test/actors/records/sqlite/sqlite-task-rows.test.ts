import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { ConflictError, UnrecordedError } from '../../../../src/actors/records/store/task-store.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

let store: SqliteStore;
let directory: string;

beforeEach(async () => {
  directory = temporaryFolder();
  store = await openStore(directory);
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

describe('a row that is remembered', () => {
  it('counts no more once another process has changed it', async () => {
    await keep(aTask({ id: 't', state: 'working' }));
    other("UPDATE tasks SET revision = 2, state = 'deferred', open_hold = 'waiting'");
    const change = (expected: number) =>
      store.save('t', () =>
        aWrite(aTask({ id: 't', state: 'working', revision: expected + 1 }), { expected }),
      );
    await expect(change(1)).rejects.toThrow(ConflictError);
    expect(rowNow()).toEqual({ state: 'deferred', revision: 2, open_hold: 'waiting' });
    await change(2);
    expect(rowNow()).toEqual({ state: 'working', revision: 3, open_hold: null });
  });

  it('counts no more once its commit has failed', async () => {
    await keep(aTask({ id: 't', state: 'submitted' }));
    expect(await store.rows.countByState()).toEqual({ submitted: 1 });
    const next = aTask({ id: 't', state: 'working', revision: 2 });
    other(
      "CREATE TRIGGER full BEFORE INSERT ON audit_outbox BEGIN SELECT raise(ABORT, 'full'); END",
    );
    await expect(store.save('t', () => aWrite(next, { expected: 1 }))).rejects.toThrow(
      UnrecordedError,
    );
    expect(await store.rows.countByState()).toEqual({ submitted: 1 });
    other("DROP TRIGGER full; UPDATE tasks SET revision = 2, open_hold = 'waiting'");
    await store.save('t', () => aWrite({ ...next, revision: 3 }, { expected: 2 }));
    expect(rowNow()).toEqual({ state: 'working', revision: 3, open_hold: null });
    expect(await store.rows.countByState()).toEqual({ working: 1 });
  });
});

/** Runs statements of another process. */
function other(sql: string): void {
  using database = new DatabaseSync(storeFiles(directory).path);
  database.exec(sql);
}

function rowNow() {
  using database = new DatabaseSync(storeFiles(directory).path);
  return database.prepare('SELECT state, revision, open_hold FROM tasks').get();
}
