import { createHash, hash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { codeOf } from '../../../machines/error-code.ts';
import { openRegularFile } from '../../open-regular-file.ts';
import { scriptExtensions } from './find-script.ts';

/** SHA-256 of each file that scripts are made of, by its absolute path. */
export type CodeDigest = ReadonlyMap<string, string>;

/** Bytes of code that are read to digest it. */
const largestCode = 1024n * 1024n * 1024n;

/** Bytes up to which a file is read as a whole, which takes a fraction of the time. */
const small = 1024n * 1024n;

/** Failures of the machine, which say nothing about the file. */
const passing = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR', 'EIO']);

/** The endings of code that scripts are made of, each with its dot. */
export const codeExtensions: ReadonlySet<string> = new Set(
  [...scriptExtensions, 'cjs', 'mts', 'cts'].map((end) => `.${end}`),
);

/** Digests all code in a folder of scripts, at any depth but for `node_modules`; none where there is no folder. */
export async function digestCode(folder: string): Promise<CodeDigest> {
  const digest = new Map<string, string>();
  for (const path of await codeFiles(folder)) digest.set(path, await digestFile(path));
  return digest;
}

/** Names a file that is no longer what it was when its digest was taken, or is gone; `null` when all are. */
export async function changedCode(digest: CodeDigest): Promise<string | null> {
  for (const [path, wanted] of digest) {
    if ((await digestFile(path)) !== wanted) return path;
  }
  return null;
}

/**
 * Digests one file; all that cannot be read have the same digest. Of a very long one its dates are digested. Rejects for a
 * failure of the machine, such as too many open files.
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

/** Tells a failure of the machine from one of the file or the folder that was to be read. */
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
