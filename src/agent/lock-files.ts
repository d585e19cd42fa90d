import { join, resolve } from 'node:path';
import type { ServiceConfig } from '../actors/config/config.ts';
import { lockDirectory, lockFile } from '../actors/records/records.ts';

/**
 * Locks the files of an agent against every other daemon, by whatever path, until the
 * stack is disposed of. Throws DirectoryLockedError or FileLockedError.
 */
export function lockFiles(
  stack: AsyncDisposableStack,
  directory: string,
  { agent_id, store, audit }: ServiceConfig,
): void {
  stack.adopt(lockDirectory(join(directory, '.service')), (lock) => lock.release());
  const holder = `agent ${agent_id} in ${directory}`;
  for (const [key, path] of [
    ['store.path', store.path],
    ['audit.path', audit.path],
  ] as const) {
    const hint = `stop it first, or set ${key} to another file`;
    stack.adopt(lockFile(resolve(directory, path), holder, hint), (lock) => lock.release());
  }
}
