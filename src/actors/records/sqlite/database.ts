import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { damagedStore, isDamage, StoreError } from '../store/store-error.ts';
import { inTransaction } from './in-transaction.ts';
import { earlierIds, readableFrom, schemaSteps } from './store-schema.ts';
import { WatchedDatabase } from './watched-database.ts';

const schemaVersion = schemaSteps.length;

/** Maximum bytes of a store that is checked before use, which takes about 100 ms. */
const soonChecked = 64 * 1024 * 1024;

/** Returns whether a store was not closed cleanly and is too large to be checked before use. */
export function isCheckedLater(path: string): boolean {
  // A clean shutdown leaves no write-ahead log.
  return sizeOf(`${path}-wal`) > 0 && sizeOf(path) > soonChecked;
}

/**
 * Opens the database of an agent and creates its tables on first use. Every commit is durable when it returns (WAL,
 * `synchronous=FULL`). Throws StoreError for a file of another version, and for a damaged one of up to 64 MiB.
 */
export function openDatabase(path: string): WatchedDatabase {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let database: WatchedDatabase | null = null;
  try {
    database = new WatchedDatabase(path, { timeout: 5_000 });
    checkBuild(path, database);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 8000;
      PRAGMA cache_size = -65536;
    `);
    chmodSync(path, 0o600);
    if (sizeOf(path) <= soonChecked) checkPages(path, database);
    checkVersion(path, database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StoreError) throw error;
    if (isDamage(error) && !isForeign(error)) throw damagedStore(path, error);
    throw new StoreError(
      `${path} cannot be opened as a task store (${error instanceof Error ? error.message : 'unknown error'}); check the folder's permissions and free space, or move the file away`,
      { cause: error },
    );
  }
}

/** Throws StoreError if the pages of a database are inconsistent. */
export function checkPages(path: string, database: DatabaseSync): void {
  const found = String(database.prepare('PRAGMA quick_check(1)').get()?.['quick_check']);
  if (found !== 'ok') throw damagedStore(path, found);
}

/** Returns whether a file is apparently not a database at all. */
function isForeign(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 26;
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function checkVersion(path: string, database: DatabaseSync): void {
  if (versionOf(database) < schemaVersion) {
    inTransaction(database, () => {
      // Another process may have created the tables while this one waited for the lock.
      const missing = schemaSteps.slice(versionOf(database));
      if (missing.length > 0) {
        database.exec(`${missing.join('')}
          UPDATE store_info SET readable_from = ${readableFrom};
          PRAGMA user_version = ${schemaVersion}`);
      }
    });
  }
  const found = versionOf(database);
  if (isUsable(database)) return;
  throw new StoreError(
    `${path} has store version ${found}, this version reads ${schemaVersion}; start the version that wrote it, or set store.path to a new file`,
  );
}

/** Throws StoreError for a store of a build before the first version. Writes nothing. */
export function checkBuild(path: string, database: DatabaseSync): void {
  if (versionOf(database) === 0 || !earlierIds.includes(applicationOf(database))) return;
  throw new StoreError(
    `${path} is a task store of a build before the first version, which this version cannot read; start the build that wrote it, or move the file away`,
  );
}

/** Returns whether this release can work with a store of its own or a later version. */
export function isUsable(database: DatabaseSync): boolean {
  if (versionOf(database) <= schemaVersion) return true;
  const info = database.prepare('SELECT readable_from FROM store_info').get();
  return Number(info?.['readable_from']) <= schemaVersion;
}

/** Returns the version of a store; 0 for an empty file. */
export function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}

/** Returns the number of the program that made a file; 0 for none. */
export function applicationOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA application_id').get()?.['application_id']);
}
