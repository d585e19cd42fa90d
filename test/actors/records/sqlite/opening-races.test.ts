import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { verifyFiles } from '../../../../src/actors/records/log/audit.ts';
import { openDatabase } from '../../../../src/actors/records/sqlite/database.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import {
  openStore,
  recordedEvents,
  storeFiles,
  temporaryFolder,
} from '../../../helpers/test-system.ts';

/** Does something just before the next transaction begins, as another process might. */
function beforeNextTransaction(interfere: () => void): void {
  const genuine = DatabaseSync.prototype.exec;
  const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql: string,
  ) {
    if (sql === 'BEGIN IMMEDIATE') {
      spy.mockRestore();
      interfere();
    }
    genuine.call(this, sql);
  });
  onTestFinished(() => spy.mockRestore());
}

describe('opening a store at the same moment as another process', () => {
  it('keeps the tables of the other one', () => {
    const { path } = storeFiles(temporaryFolder());
    const interfere = vi.fn(() => {
      const other = openDatabase(path);
      other.exec("INSERT INTO audit_outbox (offset, lines) VALUES (1, 'theirs')");
      other.close();
    });
    beforeNextTransaction(interfere);
    const database = openDatabase(path);
    const kept = database.prepare('SELECT offset, lines FROM audit_outbox').all();
    database.close();
    expect(interfere).toHaveBeenCalledOnce();
    expect(kept).toEqual([{ offset: 1, lines: 'theirs' }]);
  });

  it('keeps the lines of the other one', async () => {
    const directory = temporaryFolder();
    const first = await openStore(directory);
    await first.record([anEvent('t-1', 1)]);
    beforeNextTransaction(() => {
      void first.record([anEvent('t-1', 2)]);
      // It commits before it returns.
      void first.flush();
    });
    const second = await openStore(directory);
    await second.record([anEvent('t-1', 3)]);
    expect(recordedEvents(directory).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(second.recovery).toEqual({ torn: null, replayed: 0 });
    await second.close();
    await first.close();
    const log = storeFiles(directory).audit.path;
    expect(await verifyFiles([log])).toMatchObject({ ok: true, events: 3 });
  });
});
