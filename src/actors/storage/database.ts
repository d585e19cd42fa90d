import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { schemaSteps } from './schema-steps.ts';

const schemaVersion = schemaSteps.length;

/** A store that this version cannot use; the message says why and what to do. */
export class StoreError extends Error {
  readonly code = 'store_unusable';
}

/**
 * Opens the database of an agent and creates its tables on first use. Every commit is on disk
 * when it returns (WAL, `synchronous=FULL`). Throws StoreError for a file of another version.
 */
export function openDatabase(path: string): DatabaseSync {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: 5_000 });
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA wal_autocheckpoint = 8000;
      PRAGMA cache_size = -65536;
    `);
    chmodSync(path, 0o600);
    checkVersion(path, database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof StoreError) throw error;
    throw new StoreError(
      `${path} cannot be opened as a task store (${error instanceof Error ? error.message : 'unknown error'}); check the folder's permissions and free space, or move the file away`,
      { cause: error },
    );
  }
}

function checkVersion(path: string, database: DatabaseSync): void {
  if (versionOf(database) < schemaVersion) {
    database.exec('BEGIN IMMEDIATE');
    // Another process may have made the tables while this one waited for the lock.
    const missing = schemaSteps.slice(versionOf(database));
    if (missing.length > 0) {
      database.exec(`${missing.join('')} PRAGMA user_version = ${schemaVersion}`);
    }
    database.exec('COMMIT');
  }
  const found = versionOf(database);
  if (found === schemaVersion) return;
  throw new StoreError(
    `${path} has store version ${found}, this version reads ${schemaVersion}; start the version that wrote it, or set store.path to a new file`,
  );
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}
