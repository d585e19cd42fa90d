import { join } from 'node:path';
import { readSmallFile } from './read-small-file.ts';

const tokenPattern = /^[\x21-\x7e]{1,4096}$/;

/**
 * Returns the token in an agent's own folder, never one elsewhere that its `serve.json` points to; `null` unless only
 * its user can have written and read the token.
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
