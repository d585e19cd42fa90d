import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { openRegularFile } from '../../open-regular-file.ts';
import { scriptExtensions } from './find-script.ts';

/** SHA-256 of each file that scripts are made of, by its absolute path. */
export type CodeDigest = ReadonlyMap<string, string>;

/** Bytes of code that are read to digest it. */
const largestCode = 64n * 1024n * 1024n;

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

/** Digests one file; all that cannot be read have the same digest. Of a very long one its dates are digested. */
export async function digestFile(path: string): Promise<string> {
  try {
    const file = await openRegularFile(path);
    try {
      const { size, ino, mtimeNs, ctimeNs } = await file.stat({ bigint: true });
      if (size > largestCode) return `long ${size} ${ino} ${mtimeNs} ${ctimeNs}`;
      const digest = createHash('sha256');
      for await (const chunk of file.createReadStream({ autoClose: false })) {
        digest.update(chunk as Buffer);
      }
      return digest.digest('hex');
    } finally {
      await file.close();
    }
  } catch {
    return 'unreadable';
  }
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
