import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, recordedEvents, temporaryFolder } from '../../../helpers/test-system.ts';

let directory: string;
let store: SqliteStore;

beforeEach(async () => {
  directory = temporaryFolder();
  store = await openStore(directory);
});
afterEach(() => store.close());

/** Counts the commits from here on. */
function countCommits(): () => number {
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec');
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.filter(([sql]) => sql === 'COMMIT').length;
}

describe('saving', () => {
  it('puts all saves and events of one turn into one commit', async () => {
    const commits = countCommits();
    const ids = Array.from({ length: 50 }, (_, index) => `t-${index}`);
    await Promise.all([
      ...ids.map((id) => store.save(id, () => aWrite(aTask({ id })))),
      store.record([anEvent('t-loose')]),
    ]);
    expect(commits()).toBe(1);
    expect(await store.rows.count('working')).toBe(50);
    expect(recordedEvents(directory).map(({ task_id: id }) => id)).toEqual(['t-loose', ...ids]);
  });

  it('commits pending saves at the close', async () => {
    void store.save('t-1', () => aWrite(aTask()));
    await store.close();
    store = await openStore(directory);
    expect(await store.rows.find('t-1')).toEqual(aTask());
    expect(store.recovery).toEqual({ torn: null, replayed: 0 });
  });
});
