import { closeSync, openSync } from 'node:fs';
import type { WebSessions } from '../../ports/web-sessions.ts';
import type { KeyRows } from '../store/key-rows.ts';
import { SqliteKeyRows } from './sqlite-key-rows.ts';
import { SqliteWebSessions } from './sqlite-web-sessions.ts';
import { pageTables } from './store-schema.ts';
import { WatchedDatabase } from './watched-database.ts';

/** The sessions of a page without an agent, with the keys of its cookies. */
export interface WebSessionStore {
  sessions: WebSessions;
  keys: KeyRows;
  close: () => void;
}

/** Opens the sessions in a file that only its owner can read. Throws errors of the file system and of SQLite. */
export function openWebSessionStore(path: string): WebSessionStore {
  closeSync(openSync(path, 'a', 0o600));
  const database = new WatchedDatabase(path, { timeout: 5_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
  database.exec(pageTables.replaceAll('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS'));
  const [sessions, keys] = [new SqliteWebSessions(database), new SqliteKeyRows(database)];
  return { sessions, keys, close: () => (database.isOpen ? database.close() : undefined) };
}
