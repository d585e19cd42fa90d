import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Tells where a path leads, whether or not its last parts are there; `null` for a link to nothing and what cannot be. */
export async function realPlace(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return null;
    // A link to nothing is there and leads nowhere.
    if ((await lstat(path).catch(() => null)) !== null) return null;
    const parent = await realPlace(dirname(path));
    return parent === null ? null : join(parent, basename(path));
  }
}
