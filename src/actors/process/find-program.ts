import { accessSync, constants, statSync } from 'node:fs';
import { join } from 'node:path';

/** Search path for scripts' programs, independent of the daemon's own PATH. */
export const scriptPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Returns the absolute path of a program on a search path, or `null`. */
export function findProgram(name: string, searchPath: string = scriptPath): string | null {
  if (!/^[A-Za-z0-9._+-]+$/.test(name)) return null;
  const candidates = searchPath.split(':').map((folder) => join(folder, name));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  // Most candidates do not exist, and an error costs more than the look.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
