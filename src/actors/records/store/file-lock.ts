import { closeSync, lstatSync, mkdirSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another daemon serves this file. */
export class FileLockedError extends Error {
  readonly code = 'already_running';
}

/** How long somebody may take to read who holds a lock, in milliseconds. */
const readingTime = 500;

const busy = 5;

/**
 * Takes the lock of a file that one daemon at a time may serve, by whatever path: `<file>.lock` beside the
 * file itself, links resolved. The operating system gives it back when this process ends, however it ends.
 * Throws FileLockedError, which names who holds it.
 *
 * @param holder what this process is, for whoever comes second
 * @param hint what that one may do besides
 * @param patience how long it waits for whoever reads who holds the lock, in milliseconds
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
    // Who holds the lock is written under it, and can be read as long as it is held.
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

/** The path of the file itself, which need not be there yet. */
function resolved(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const place = join(realpathSync(dirname(path)), basename(path));
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? resolved(resolve(dirname(place), readlinkSync(place))) : place;
}
