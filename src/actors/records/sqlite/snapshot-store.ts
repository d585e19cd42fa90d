import { closeSync, existsSync, fstatSync, openSync, rmSync } from 'node:fs';
import { finishedFilesOf, finishedPath } from '../log/log-files.ts';
import type { AuditHead } from '../store/audit-head.ts';
import { StoreError } from '../store/store-error.ts';
import { AuditRows } from './audit-head.ts';
import { schemaFault } from './schema-fault.ts';
import { checkSource, openSource } from './source-store.ts';

/** Name of the current file of the log next to a copy; finished files are named after it. */
export const logNameInCopy = 'audit.ndjson';

/** A file of the log as it was when the snapshot was made; later lines are beyond `bytes`. */
export interface LogPart {
  name: string;
  descriptor: number;
  bytes: number;
}

/** A copy of a store, as of one commit. */
export interface StoreSnapshot {
  version: number;
  /** Number of tasks, and of those that wait for a decision. */
  tasks: number;
  waiting: number;
  /** Position of the log at that commit. */
  head: AuditHead;
  /** What the store has that no agent makes, such as a trigger; `null` for nothing. */
  fault: string | null;
}

/**
 * Copies a store to a new file, also while a daemon writes to it. Throws StoreError for a file that is no store, and
 * SQLite's error when the copy cannot be written.
 *
 * @param into path of the copy, which must not exist
 */
export function snapshotStore(path: string, into: string): StoreSnapshot {
  checkSource(path, true);
  copyPages(path, into);
  const copy = openSource(into);
  try {
    const count = (where: string): number =>
      Number(copy.prepare(`SELECT count(*) AS tasks FROM tasks ${where}`).get()?.['tasks']);
    return {
      version: Number(copy.prepare('PRAGMA user_version').get()?.['user_version']),
      tasks: count(''),
      waiting: count("WHERE state = 'deferred'"),
      head: new AuditRows(copy).read() as AuditHead,
      fault: schemaFault(copy),
    };
  } finally {
    copy.close();
  }
}

/** A read transaction sees one commit and delays no writer. */
function copyPages(path: string, into: string): void {
  // SQLite would create a file that other users can read; it accepts an empty one.
  closeSync(openSync(into, 'wx', 0o600));
  const source = openSource(path);
  try {
    // A sync of so many pages would delay the commits of the daemon; the backup is synced as a whole.
    source.exec('PRAGMA synchronous = OFF');
    source.prepare('VACUUM INTO ?').run(into);
  } catch (error) {
    rmSync(into, { force: true });
    throw error;
  } finally {
    source.close();
  }
}

/** The files of a log as of a commit, oldest first, until it is closed. */
export class SnapshotLog {
  readonly parts: readonly LogPart[];

  /**
   * Opens all files before any is read, since the daemon renames a finished file and deletes old ones.
   *
   * @param path path of the current file of the log
   */
  constructor(path: string, head: AuditHead) {
    this.parts = openParts(path, head);
  }

  close(): void {
    closeAll(this.parts);
  }
}

function openParts(path: string, { first, bytes, finishing, keptFrom }: AuditHead): LogPart[] {
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
  if (end !== null) return [...finished, end];
  closeAll(last.bytes === 0 ? [] : finished);
  if (last.bytes === 0) return finished;
  throw new StoreError(
    `the log ${path} was rotated away while its store was copied; try again, or raise audit.rotation.keep`,
  );
}

function openPart(path: string, name: string, limit = Number.POSITIVE_INFINITY): LogPart {
  const descriptor = openSync(path, 'r');
  return { name, descriptor, bytes: Math.min(fstatSync(descriptor).size, limit) };
}

function closeAll(parts: readonly LogPart[]): void {
  for (const { descriptor } of parts) closeSync(descriptor);
}
