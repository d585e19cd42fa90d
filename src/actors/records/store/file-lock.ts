import { closeSync, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another daemon has locked this file. */
export class FileLockedError extends Error {
  readonly code = 'already_running';
}

/** Time allowed for another process to read the holder of a lock, in milliseconds. */
const readingTime = 500;

const busy = 5;

/**
 * Locks a file that one daemon at a time may use, under any path: `<file>.lock` next to the resolved file. The
 * operating system releases the lock when this process exits in any way. Throws FileLockedError, which names the holder.
 *
 * @param holder description of this process, shown to a second one
 * @param hint remedy shown to that process
 * @param patience time to wait for processes that only read the holder, in milliseconds
 */
export function lockFile(
  path: string,
  holder: string,
  hint: string,
  patience: number = readingTime,
): { release(): void } {
  const file = resolved(path);
  const lock = openLock(`${file}.lock`, patience);
  try {
    // The holder is written under the lock and can be read while it is held.
    lock.exec(`PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF;
      BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS holder (name TEXT NOT NULL); DELETE FROM holder`);
    lock.prepare('INSERT INTO holder VALUES (?)').run(`process ${process.pid}, ${holder}`);
    lock.exec('COMMIT; BEGIN IMMEDIATE');
  } catch (error) {
    const isHeld = (error as { errcode?: number }).errcode === busy;
    const reason = isHeld
      ? `is in use by ${holderOf(lock)}`
      : `cannot be locked (${String(error)})`;
    lock.close();
    throw new FileLockedError(`${file} ${reason}; ${hint}`, { cause: error });
  }
  return { release: () => lock.close() };
}

function openLock(path: string, patience: number): DatabaseSync {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return new DatabaseSync(path, { timeout: patience });
}

function holderOf(lock: DatabaseSync): string {
  try {
    return String(lock.prepare('SELECT name FROM holder').get()?.['name'] ?? 'another process');
  } catch {
    return 'another process';
  }
}

/** Returns the resolved path of a file, which need not exist yet. */
function resolved(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const place = join(realpathSync(dirname(path)), basename(path));
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? resolved(resolve(dirname(place), readlinkSync(place))) : place;
}
