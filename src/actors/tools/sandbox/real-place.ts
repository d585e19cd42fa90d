import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Resolves a path whose last components may be missing; `null` for a dangling link or an impossible path. */
export async function realPlace(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return null;
    // A dangling link exists, but has no target.
    if ((await lstat(path).catch(() => null)) !== null) return null;
    const parent = await realPlace(dirname(path));
    return parent === null ? null : join(parent, basename(path));
  }
}
