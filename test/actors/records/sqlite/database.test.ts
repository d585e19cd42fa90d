import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { schemaSteps } from '../../../../src/actors/records/sqlite/store-schema.ts';
import { StoreError } from '../../../../src/actors/records/store/store-error.ts';
import { aTask, aWrite } from '../../../helpers/stored-tasks.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

async function refusal(directory: string): Promise<string> {
  const error = await openStore(directory).then(
    (store) => store.close(),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  return (error as StoreError).message;
}

/** Makes a store one of a later release, which releases from a version on can read. */
function makeLater(path: string, readableFrom: number): void {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA user_version = 99; UPDATE store_info SET readable_from = ${readableFrom}`);
  database.close();
}

describe('opening a store', () => {
  it('creates its folders and restricts every file to its owner', async () => {
    const directory = join(temporaryFolder(), 'agent', '.service');
    const before = process.umask(0o022);
    const store = await openStore(directory);
    await store.save('t-1', () => aWrite(aTask()));
    process.umask(before);
    const modes = readdirSync(directory).map((name) => [
      name,
      (statSync(join(directory, name)).mode & 0o777).toString(8),
    ]);
    expect(modes).toEqual([
      ['audit.ndjson', '600'],
      ['tasks.db', '600'],
      ['tasks.db-shm', '600'],
      ['tasks.db-wal', '600'],
    ]);
    expect((statSync(directory).mode & 0o777).toString(8)).toBe('700');
    await store.close();
  });

  it('removes the rights of others from existing files', async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    const { path, audit } = storeFiles(directory);
    for (const file of [path, audit.path]) chmodSync(file, 0o644);
    await (await openStore(directory)).close();
    for (const file of [path, audit.path]) expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('commits durably: write-ahead log, synced at every commit', async () => {
    const directory = temporaryFolder();
    const store = await openStore(directory);
    const database = new DatabaseSync(storeFiles(directory).path);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
    await store.close();
  });

  it('uses a readable store of a later version, and keeps its version', async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    const { path } = storeFiles(directory);
    makeLater(path, schemaSteps.length);
    await (await openStore(directory)).close();
    const database = new DatabaseSync(path, { readOnly: true });
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
    database.close();
  });

  it('refuses a store of another version and names both', async () => {
    const directory = temporaryFolder();
    await (await openStore(directory)).close();
    const { path } = storeFiles(directory);
    makeLater(path, schemaSteps.length + 1);
    expect(await refusal(directory)).toBe(
      `${path} has store version 99, this version reads ${schemaSteps.length}; start the version that wrote it, or set store.path to a new file`,
    );
  });

  it('refuses a store of a build before the first version and keeps it unchanged', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory);
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE tasks (id TEXT); PRAGMA user_version = 1');
    database.close();
    const before = readFileSync(path);
    expect(await refusal(directory)).toBe(
      `${path} is a task store of a build before the first version, which this version cannot read; start the build that wrote it, or move the file away`,
    );
    expect(readFileSync(path)).toEqual(before);
  });

  it('refuses a file that is no database and keeps it unchanged', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory);
    const junk = 'this is no database, but somebody may want it\n'.repeat(100);
    writeFileSync(path, junk);
    expect(await refusal(directory)).toBe(
      `${path} cannot be opened as a task store (file is not a database); check the folder's permissions and free space, or move the file away`,
    );
    expect(readFileSync(path, 'utf8')).toBe(junk);
  });

  it('refuses a database with broken pages', async () => {
    const directory = temporaryFolder();
    const store = await openStore(directory);
    await store.save('t-1', () => aWrite(aTask()));
    await store.close();
    const { path } = storeFiles(directory);
    const bytes = readFileSync(path);
    bytes.fill(0xff, 100);
    writeFileSync(path, bytes);
    expect(await refusal(directory)).toMatch(
      / is damaged \(database disk image is malformed\); stop the agent/,
    );
  });

  it('refuses the database of another program', async () => {
    const directory = temporaryFolder();
    const { path } = storeFiles(directory);
    const database = new DatabaseSync(path);
    database.exec('CREATE TABLE tasks (note TEXT)');
    database.close();
    expect(await refusal(directory)).toMatch(/^.* cannot be opened as a task store \(/);
  });

  it('refuses a path that is a folder', async () => {
    const directory = temporaryFolder();
    mkdirSync(storeFiles(directory).path);
    expect(await refusal(directory)).toMatch(
      /cannot be opened as a task store \(unable to open database file\)/,
    );
  });
});
