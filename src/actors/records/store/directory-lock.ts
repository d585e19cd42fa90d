import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Another daemon serves this folder. */
export class DirectoryLockedError extends Error {
  readonly code = 'already_running';
}

/**
 * Takes the lock of a state folder, which the operating system gives back when this process ends,
 * however it ends. Throws DirectoryLockedError while another daemon holds it.
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
 * Makes a state folder and its lock private: who can open the lock can hold it. A lock that is
 * there already is not opened, as closing it again would let go of it for this whole process.
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
