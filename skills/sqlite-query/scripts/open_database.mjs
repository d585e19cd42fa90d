import { openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { insideAgent } from './files.mjs';

/** A query makes no value that fills the memory, and opens no other file. */
const limits = { length: 64 * 1024 * 1024, attach: 0 };

/** Opens a database of the agent's folder so that nothing can be written, attached or loaded. */
export function openDatabase(file) {
  const path = insideAgent(file);
  if (!isDatabase(path)) throw new Error(`${file} is no SQLite database`);
  // A read-only folder has no place for the files next to a database that is open elsewhere.
  const url = new URL(`file://${encodeURI(path).replaceAll('?', '%3f').replaceAll('#', '%23')}`);
  url.searchParams.set('mode', 'ro');
  url.searchParams.set('immutable', '1');
  const database = new DatabaseSync(url, {
    ...{ readOnly: true, allowExtension: false, timeout: 2_000, limits },
  });
  database.exec('PRAGMA query_only = 1; PRAGMA trusted_schema = 0; PRAGMA temp_store = 2');
  return database;
}

/** A value as it goes into JSON. */
export function shown(value) {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  return typeof value === 'string' && value.length > 2_000 ? `${value.slice(0, 2_000)}…` : value;
}

function isDatabase(path) {
  const head = Buffer.alloc(16);
  readSync(openSync(path, 'r'), head, 0, 16, 0);
  return head.toString('latin1') === 'SQLite format 3\0';
}
