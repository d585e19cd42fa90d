import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';

/** A resolved path in relation to a folder. */
export type Resolved = { kind: 'inside'; path: string } | { kind: 'outside' } | { kind: 'missing' };

/** Resolves `path` and returns whether it stays inside `directory`, whose own links must already be resolved. */
export async function resolveInside(directory: string, path: string): Promise<Resolved> {
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    throw error;
  }
  const way = relative(directory, real);
  const leavesDirectory = way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
  return leavesDirectory ? { kind: 'outside' } : { kind: 'inside', path: real };
}
