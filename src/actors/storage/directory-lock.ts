import { mkdirSync } from 'node:fs';
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
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(directory, 'daemon.lock'), { timeout: 0 });
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
