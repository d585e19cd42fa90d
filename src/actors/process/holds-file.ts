import { readdirSync, readlinkSync, realpathSync } from 'node:fs';

/**
 * Tells whether a process has a file open, such as the lock of the folder that it serves; `null` where that cannot be
 * known.
 */
export function holdsFile(pid: number, path: string): boolean | null {
  try {
    const folder = `/proc/${pid}/fd`;
    const descriptors = readdirSync(folder);
    const file = realpathSync(path);
    return descriptors.some((name) => linkOf(`${folder}/${name}`) === file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A file that is not there is held by nobody; a process of another user does not say.
    return code === 'ENOENT' && process.platform === 'linux' ? false : null;
  }
}

/** One that is closed meanwhile leads nowhere. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
