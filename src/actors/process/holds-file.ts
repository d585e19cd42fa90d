import { readdirSync, readlinkSync, realpathSync } from 'node:fs';

/** Returns whether a process has a file open, such as the lock of its folder; `null` if this cannot be determined. */
export function holdsFile(pid: number, path: string): boolean | null {
  try {
    const folder = `/proc/${pid}/fd`;
    const descriptors = readdirSync(folder);
    const file = realpathSync(path);
    return descriptors.some((name) => linkOf(`${folder}/${name}`) === file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A missing file is open in no process; processes of other users cannot be inspected.
    return code === 'ENOENT' && process.platform === 'linux' ? false : null;
  }
}

/** A descriptor closed in the meantime has no link. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
