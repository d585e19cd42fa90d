import { join } from 'node:path';
import { readSmallFile } from './read-small-file.ts';

const tokenPattern = /^[\x21-\x7e]{1,4096}$/;

/**
 * Returns the token that an agent keeps in its own folder, never one that its `serve.json` points at elsewhere; `null`
 * when there is none that its user alone can have written and read.
 */
export function readOwnToken(directory: string): string | null {
  const path = join(directory, '.service', 'runtime.token');
  const text = readSmallFile(
    path,
    ({ uid, nlink, mode }) => uid === process.getuid?.() && nlink === 1 && (mode & 0o077) === 0,
  );
  const token = text?.trim() ?? '';
  return tokenPattern.test(token) ? token : null;
}
