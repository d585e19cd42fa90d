import { join, resolve } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { lockDirectory, lockFile } from '../../actors/records/records.ts';

/**
 * Locks an agent's files against every other daemon, regardless of the path used, until the stack is disposed. Throws
 * DirectoryLockedError or FileLockedError.
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
