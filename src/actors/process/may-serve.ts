import { join } from 'node:path';
import { holdsFile } from './holds-file.ts';
import { isAlive } from './is-alive.ts';

/**
 * Returns false if the process of a `serve.json` has ended, or its id was reused: it then does not hold the lock of the
 * state folder. A killed agent leaves its `serve.json`. Returns true where the lock cannot be inspected.
 */
export function mayServe(pid: number, stateFolder: string): boolean {
  return isAlive(pid) && holdsFile(pid, join(stateFolder, 'daemon.lock')) !== false;
}
