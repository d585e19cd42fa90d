import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { logFilesOf } from '../log/log-files.ts';
import type { AuditHead } from '../store/audit-head.ts';
import { StoreError } from '../store/store-error.ts';
import { AuditRows } from './audit-head.ts';
import { checkLastLine } from './check-last-line.ts';
import { linesAhead } from './lines-ahead.ts';
import { openSource } from './source-store.ts';
import { StoreBehindError } from './store-behind-error.ts';

/** Paths of a store and its log. */
export interface StoreAndLog {
  store: string;
  log: string;
  chain: boolean;
}

/** Maximum comparisons while an agent writes to the store and its log. */
const maximumLooks = 5;

/**
 * Describes how a store and its log differ, in the words of the next start; `null` if they agree. Changes neither.
 * Throws SQLite's error for an unreadable store.
 */
export async function compareLog(subject: StoreAndLog): Promise<string | null> {
  const { store, log } = subject;
  if (!existsSync(store)) return isWritten(log) ? lost(subject) : null;
  const database = new DatabaseSync(store, { readOnly: true });
  try {
    for (let look = 1; ; look += 1) {
      const known = headOf(database);
      if (known === null) return isWritten(log) ? lost(subject) : null;
      const difference = await differenceFrom(known, subject, database);
      const isStill = headOf(database)?.events === known.events;
      if (difference === null || isStill || look === maximumLooks) {
        return difference?.message ?? null;
      }
    }
  } finally {
    database.close();
  }
}

/**
 * Checks a store that no daemon uses against a log; returns whether the log has lines that the store lacks. Throws
 * StoreError for a log that neither is the one of the store nor continues it.
 */
export async function isContinued(subject: StoreAndLog): Promise<boolean> {
  const database = openSource(subject.store);
  try {
    const known = new AuditRows(database).read() as AuditHead;
    const difference = await differenceFrom(known, subject, database);
    if (difference === null) return false;
    if (difference instanceof StoreBehindError) return true;
    throw difference;
  } finally {
    database.close();
  }
}

async function differenceFrom(
  known: AuditHead,
  { store, log, chain }: StoreAndLog,
  database: DatabaseSync,
): Promise<StoreError | null> {
  try {
    const ahead = await linesAhead(known, { path: log, chain, keys: null });
    if (ahead !== null) return new StoreBehindError(store, ahead);
    const { finishing, bytes } = known;
    const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    // A file that is about to be archived is checked afterwards.
    if (finishing !== null) return null;
    if (size >= bytes) checkLastLine(log, known);
    else if (!isReplaceable(database, size))
      return new StoreError(`${log} has ${size} bytes but ${bytes} were written`);
    return null;
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}

/** Returns whether the outbox contains all bytes that a file lacks beyond a length. */
function isReplaceable(database: DatabaseSync, size: number): boolean {
  for (const { offset } of new AuditRows(database).outbox()) return offset <= size;
  return false;
}

function headOf(database: DatabaseSync): AuditHead | null {
  const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit_head'").get();
  return made === undefined ? null : new AuditRows(database).read();
}

function isWritten(log: string): boolean {
  return logFilesOf(log).some((file) => statSync(file).size > 0);
}

function lost({ store, log }: StoreAndLog): string {
  return `the audit log ${log} exists and its task store ${store} is lost: the next start abandons what waits in it`;
}
