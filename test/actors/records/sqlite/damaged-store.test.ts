import { cpSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { StoreError } from '../../../../src/actors/records/store/store-error.ts';
import { UnrecordedError } from '../../../../src/actors/records/store/task-store.ts';
import { overwritePages, pagesOf } from '../../../helpers/damaged-file.ts';
import { anEvent, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

const text = 'x'.repeat(2_000);

/** The folder of a store with a hundred tasks in some pages. */
async function storeOfTasks(): Promise<string> {
  const directory = temporaryFolder();
  const store = await openStore(directory);
  for (let index = 0; index < 100; index += 1) {
    void store.save(`t-${index}`, () => aWrite(aTask({ id: `t-${index}`, text })));
  }
  await store.close();
  return directory;
}

describe('a damaged store', () => {
  it.each([
    ['page 2', () => ({ first: 2, count: 1 })],
    ['its middle', (pages: number) => ({ first: Math.floor(pages / 2), count: 6 })],
  ])('is refused with a reason: %s', async (_, where) => {
    const directory = await storeOfTasks();
    const { path } = storeFiles(directory);
    const { first, count } = where(pagesOf(path));
    overwritePages(path, first, count);
    const error = await openStore(directory).then(
      (store) => store.close(),
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StoreError);
    const { message } = error as StoreError;
    expect(message.startsWith(`${path} is damaged (`)).toBe(true);
    expect(message).toMatch(
      /\); stop the agent and restore the file from a backup, or move it away to start without its tasks$/,
    );
    expect(message).not.toContain('\n');
  });

  it('is detected while it is in use, accepts no more writes, and is reported once', async () => {
    const directory = await storeOfTasks();
    const { path, audit } = storeFiles(directory);
    const told: string[] = [];
    const store = await SqliteStore.open({
      path,
      audit,
      onDamaged: ({ message }) => told.push(message),
    });
    const other = new DatabaseSync(path);
    // What another connection writes has this one read the file again.
    other.exec("UPDATE tasks SET started_call = 'x' WHERE id = 't-0'; PRAGMA wal_checkpoint");
    other.close();
    overwritePages(path, Math.floor(pagesOf(path) / 2), 8);
    expect([store.isWritable(), store.damage]).toEqual([true, null]);
    const ids = Array.from({ length: 100 }, (_, index) => `t-${index}`);
    const read = async (): Promise<void> => {
      for (const id of ids) await store.rows.find(id);
    };
    await expect(read()).rejects.toThrow('database disk image is malformed');
    await expect(store.rows.listing.made({ limit: 500 })).rejects.toThrow();
    expect(store.damage?.message).toMatch(/^.*tasks\.db is damaged \(/);
    expect([store.isWritable(), told]).toEqual([false, [store.damage?.message]]);
    await expect(store.record([anEvent('t-1')])).rejects.toThrow(UnrecordedError);
    await expect(store.save('new', () => aWrite(aTask({ id: 'new' })))).rejects.toThrow(
      UnrecordedError,
    );
    await store.close();
  });

  it('is detected in use after an unclean stop, when it is too large for a check at the start', async () => {
    const directory = temporaryFolder();
    const killed = await openStore(directory);
    const large = 'x'.repeat(1024 * 1024);
    for (let index = 0; index < 70; index += 1) {
      await killed.save(`t-${index}`, () => aWrite(aTask({ id: `t-${index}`, text: large })));
    }
    const copy = temporaryFolder();
    cpSync(directory, copy, { recursive: true });
    await killed.close();
    const { path, audit } = storeFiles(copy);
    new DatabaseSync(path).exec("UPDATE tasks SET started_call = 'x' WHERE id = 't-0'");
    overwritePages(path, Math.floor(pagesOf(path) / 2), 6);
    const damaged = Promise.withResolvers<string>();
    const store = await SqliteStore.open({
      path,
      audit,
      onDamaged: ({ message }) => damaged.resolve(message),
    });
    expect([store.isWritable(), store.damage]).toEqual([true, null]);
    expect(await damaged.promise).toMatch(
      /^.*tasks\.db is damaged \(.*\); stop the agent and restore/,
    );
    expect(store.isWritable()).toBe(false);
    await store.close();
  });
});
