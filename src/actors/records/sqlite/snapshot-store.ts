import { closeSync, existsSync, fstatSync, openSync, rmSync } from 'node:fs';
import { finishedFilesOf, finishedPath } from '../log/log-files.ts';
import type { AuditHead } from '../store/audit-head.ts';
import { AuditRows } from './audit-head.ts';
import { checkSource, openSource } from './source-store.ts';

/** Name of the current file of the log beside a copy; finished files are named after it. */
export const logNameInCopy = 'audit.ndjson';

/** A file of the log as it was when the snapshot was made; later lines are beyond `bytes`. */
export interface LogPart {
  name: string;
  descriptor: number;
  bytes: number;
}

/** A copy of a store and the files of its log, at the same commit. */
export interface StoreSnapshot {
  version: number;
  /** Number of tasks, and of those that wait for a decision. */
  tasks: number;
  waiting: number;
  /** Number of the last line of the log. */
  lines: number;
  /** Oldest first. */
  log: readonly LogPart[];
  /** Closes the files of the log. */
  close(): void;
}

/**
 * Copies a store to a new file, also while a daemon uses it: the daemon writes on, and the copy has the state of one
 * commit. Throws StoreError for a file that is no store, and SQLite's error when the copy cannot be written.
 *
 * @param log path of the current file of its log
 * @param into path of the copy, which must not exist
 */
export function snapshotStore(path: string, log: string, into: string): StoreSnapshot {
  checkSource(path);
  copyPages(path, into);
  const copy = openSource(into);
  try {
    const head = new AuditRows(copy).read() as AuditHead;
    const count = (where: string): number =>
      Number(copy.prepare(`SELECT count(*) AS tasks FROM tasks ${where}`).get()?.['tasks']);
    const version = Number(copy.prepare('PRAGMA user_version').get()?.['user_version']);
    const parts = openLog(log, head);
    return {
      version,
      tasks: count(''),
      waiting: count("WHERE state = 'deferred'"),
      lines: head.events,
      log: parts,
      close: () => closeAll(parts),
    };
  } finally {
    copy.close();
  }
}

/** A read transaction sees one commit and delays no writer. */
function copyPages(path: string, into: string): void {
  const source = openSource(path);
  try {
    source.prepare('VACUUM INTO ?').run(into);
  } catch (error) {
    rmSync(into, { force: true });
    throw error;
  } finally {
    source.close();
  }
}

/**
 * Opens the files of a log as of a commit before any is read, since a file may be renamed, or deleted by age, meanwhile.
 */
function openLog(path: string, { first, bytes, finishing, keptFrom }: AuditHead): LogPart[] {
  const last = finishing ?? { first, bytes };
  const finished: LogPart[] = [];
  const finishedName = (line: number): string => finishedPath(logNameInCopy, line);
  // Opened before the folder is read: unless a finished file replaces it below, it is the last file of the commit.
  let end = existsSync(path) ? openPart(path, logNameInCopy, last.bytes) : null;
  try {
    for (const file of finishedFilesOf(path)) {
      if (file.first < keptFrom || file.first > last.first) continue;
      if (file.first < last.first) {
        finished.push(openPart(file.path, finishedName(file.first)));
        continue;
      }
      if (end !== null) closeSync(end.descriptor);
      end = null;
      // A file that was finished after the commit has the name of the current file in the copy.
      const name = finishing === null ? logNameInCopy : finishedName(file.first);
      end = openPart(file.path, name, last.bytes);
    }
  } catch (error) {
    closeAll(end === null ? finished : [...finished, end]);
    throw error;
  }
  return end === null ? finished : [...finished, end];
}

function openPart(path: string, name: string, limit = Number.POSITIVE_INFINITY): LogPart {
  const descriptor = openSync(path, 'r');
  return { name, descriptor, bytes: Math.min(fstatSync(descriptor).size, limit) };
}

function closeAll(parts: readonly LogPart[]): void {
  for (const { descriptor } of parts) closeSync(descriptor);
}
