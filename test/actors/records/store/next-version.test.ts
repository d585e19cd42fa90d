import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type * as PostgresModule from '../../../../src/actors/records/postgres/open-schema.ts';
import { postgresSteps } from '../../../../src/actors/records/postgres/postgres-schema.ts';
import type * as SqliteModule from '../../../../src/actors/records/sqlite/database.ts';
import { schemaSteps } from '../../../../src/actors/records/sqlite/store-schema.ts';
import { postgresPlace } from '../../../helpers/kinds-of-stores.ts';
import { sharedPostgres } from '../../../helpers/postgres-server.ts';
import { aParkedTask, aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

const records = '../../../../src/actors/records';

/** A made-up step to version 2. */
const step = `ALTER TABLE tasks ADD COLUMN note TEXT;
  UPDATE tasks SET note = 'held' WHERE state = 'deferred';`;

const notes = 'SELECT id, note FROM tasks ORDER BY id';
const expected = [
  { id: 't-1', note: null },
  { id: 't-2', note: 'held' },
];
const writes = [aTask(), aParkedTask('t-2', 9_000)].map((task) => aWrite(task));

/** Adds the step to the schema of a store, and loads a module that knows it. */
async function nextVersion<Module>(
  schema: string,
  name: 'schemaSteps' | 'postgresSteps',
  module: string,
): Promise<Module> {
  vi.resetModules();
  vi.doMock(`${records}/${schema}`, async (original) => {
    const real = await original<Record<string, readonly string[]>>();
    return { ...real, [name]: [...(real[name] ?? []), step] };
  });
  onTestFinished(() => {
    vi.doUnmock(`${records}/${schema}`);
    vi.resetModules();
  });
  return (await import(`${records}/${module}`)) as Module;
}

beforeEach(() => vi.resetModules());

describe('a step to the next version of the tables', () => {
  it('changes a store in SQLite once, and the version before can still use it', async () => {
    const directory = temporaryFolder();
    const store = await openStore(directory);
    for (const write of writes) await store.save(write.change.task.id, () => write);
    await store.close();
    const { path } = storeFiles(directory);

    const { openDatabase } = await nextVersion<typeof SqliteModule>(
      'sqlite/store-schema.ts',
      'schemaSteps',
      'sqlite/database.ts',
    );
    openDatabase(path).close();
    openDatabase(path).close();

    const database = new DatabaseSync(path, { readOnly: true });
    expect(database.prepare(notes).all()).toEqual(expected);
    expect(database.prepare('PRAGMA user_version').get()).toEqual({
      user_version: schemaSteps.length + 1,
    });
    database.close();
    const again = await openStore(directory);
    expect((await again.rows.find('t-2'))?.state).toBe('deferred');
    await again.close();
  });

  it('changes the tables in PostgreSQL once, and the version before can still use them', async () => {
    const place = await postgresPlace();
    const store = await place.open();
    for (const write of writes) await store.save(write.change.task.id, () => write);

    const { openSchema } = await nextVersion<typeof PostgresModule>(
      'postgres/postgres-schema.ts',
      'postgresSteps',
      'postgres/open-schema.ts',
    );
    const owner = { schema: 'holdpoint', agentId: 'refunds' };
    const open = () => store.database.transaction((client) => openSchema(client, owner));

    expect([await open(), await open()]).toEqual([postgresSteps.length, postgresSteps.length + 1]);
    expect(await place.execute(notes)).toEqual(expected);
    expect(await place.execute('SELECT version, oldest_reader FROM store_info')).toEqual([
      { version: postgresSteps.length + 1, oldest_reader: 1 },
    ]);
    expect((await (await place.open()).rows.find('t-2'))?.state).toBe('deferred');
  });

  it('keeps the statements that daemons of version 2 have prepared for the ledger', async () => {
    const [server, place] = [await sharedPostgres(), await postgresPlace()];
    await place.execute('CREATE SCHEMA holdpoint');
    const daemon = new pg.Client(server.url(place.database));
    await daemon.connect();
    onTestFinished(() => daemon.end());
    await daemon.query(postgresSteps.slice(0, 2).join(''));
    const read = { name: 'read', text: 'SELECT * FROM ledger WHERE call_id = $1', values: ['c-1'] };
    const before = await daemon.query(read);
    await place.execute(postgresSteps.slice(2).join(''));
    expect((await daemon.query(read)).rows).toEqual(before.rows);
  });
});
