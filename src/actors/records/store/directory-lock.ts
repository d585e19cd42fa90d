import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another daemon has locked this folder. */
export class DirectoryLockedError extends Error {
  readonly code = 'already_running';
}

/**
 * Locks a state folder; the operating system releases the lock when this process exits in any way. Throws
 * DirectoryLockedError while another daemon holds it.
 */
export function lockDirectory(directory: string): { release(): void } {
  const path = join(directory, 'daemon.lock');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  makePrivate(directory, path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    throw new DirectoryLockedError(
      `another daemon already serves ${directory}; stop it first, or use another folder`,
      { cause: error },
    );
  }
  return { release: () => lock.close() };
}

/**
 * Makes a state folder and its lock private, since any user who can open the lock can hold it. An existing lock is not
 * opened: closing it again would release it for this whole process.
 */
function makePrivate(directory: string, lock: string): void {
  chmodSync(directory, 0o700);
  try {
    closeSync(openSync(lock, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(lock, 0o600);
  }
}
