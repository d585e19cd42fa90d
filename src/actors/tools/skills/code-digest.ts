import { createHash, hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { codeOf } from '../../../machines/error-code.ts';
import { openRegularFile } from '../../open-regular-file.ts';
import { scriptExtensions } from './find-script.ts';

/** SHA-256 of each code file of scripts, by absolute path. */
export type CodeDigest = ReadonlyMap<string, string>;

/** Maximum bytes of code that are read for a digest. */
const largestCode = 1024n * 1024n * 1024n;

/** Maximum bytes of a file that is read at once, which is considerably faster. */
const small = 1024n * 1024n;

/** System failures that say nothing about the file. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR', 'EIO']);

/** File extensions of script code, with the dot. */
export const codeExtensions: ReadonlySet<string> = new Set(
  [...scriptExtensions, 'cjs', 'mts', 'cts'].map((end) => `.${end}`),
);

/** Digests all code in a folder of scripts at any depth, except `node_modules`; empty if there is no folder. */
export async function digestCode(folder: string): Promise<CodeDigest> {
  const digest = new Map<string, string>();
  for (const path of await codeFiles(folder)) digest.set(path, await digestFile(path));
  return digest;
}

/** Returns a file that was changed or deleted since its digest was taken; `null` if none was. */
export async function changedCode(digest: CodeDigest): Promise<string | null> {
  for (const [path, wanted] of digest) {
    if ((await digestFile(path)) !== wanted) return path;
  }
  return null;
}

/**
 * Digests one file; all unreadable files have the same digest. For a very long file only its timestamps are digested.
 * Rejects on a system failure, such as too many open files.
 */
export async function digestFile(path: string): Promise<string> {
  try {
    const file = await openRegularFile(path);
    try {
      const { size, ino, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
      if (size > largestCode) return `long ${size} ${ino} ${mtimeNs} ${ctimeNs}`;
      if (size <= small) return hash('sha256', await file.readFile(), 'hex');
      const digest = createHash('sha256');
      for await (const chunk of file.createReadStream({ autoClose: false })) {
        digest.update(chunk as Buffer);
      }
      return digest.digest('hex');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isPassing(error)) throw error;
    return 'unreadable';
  }
}

/** Returns whether an error is a system failure rather than a fault of the file or folder. */
export function isPassing(error: unknown): boolean {
  return passing.has(codeOf(error));
}

async function codeFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : codeFiles(path);
      return codeExtensions.has(extname(entry.name)) && (await isFile(path)) ? [path] : [];
    }),
  );
  return found.flat();
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
