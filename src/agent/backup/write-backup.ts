import { createHash, type Hash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { Pack } from 'tar-stream';
import { type LineSigner, signManifest } from '../../actors/records/records.ts';
import { codeOf } from '../../machines/error-code.ts';
import type { JsonObject } from '../../machines/json.ts';
import {
  type BackupHead,
  endEntry,
  format,
  headEntry,
  type ManifestFile,
} from './backup-format.ts';

/** A file to put into a backup. */
export interface BackupEntry {
  /** Path with `/`, below one of the folders. */
  path: string;
  bytes: number;
  mode: number;
  /** Yields exactly `bytes` bytes. */
  content: Readable;
  /** Returns how many of the bytes are of the file, once they are read; the rest is filled with zeros. */
  kept?: () => number;
}

/** A backup to write. */
export interface NewBackup {
  path: string;
  /** Path of the file until it is whole, in the same folder. */
  draft: string;
  head: Omit<BackupHead, 'format'>;
  /** `null` writes no signature. */
  signer: LineSigner | null;
}

/**
 * Writes a backup as a tar.gz file that only its owner can read, durably and never over another file. The file has its
 * name once it is whole, so a process that ends before leaves none that counts as a backup.
 */
export async function writeBackup(
  { path, draft, head, signer }: NewBackup,
  entries: AsyncIterable<BackupEntry>,
): Promise<{ files: number; bytes: number }> {
  const { pack } = await import('tar-stream');
  const file = await open(draft, 'wx', 0o600);
  try {
    const tar = pack();
    const zip = createGzip({ level: constants.Z_BEST_SPEED });
    const out = createWriteStream('', { fd: file.fd, autoClose: false });
    const written = pipeline(tar, zip, out);
    const [files] = await Promise.all([
      fill(tar, { head: { format, ...head }, signer }, entries),
      written,
    ]);
    await file.sync();
    await giveName(draft, path);
    return { files, bytes: (await file.stat()).size };
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/** Rejects if another file has the name. */
async function giveName(draft: string, path: string): Promise<void> {
  try {
    await link(draft, path);
  } catch (error) {
    // A disk without links, such as a network share.
    if (codeOf(error) === 'EEXIST' || existsSync(path)) throw error;
    await rename(draft, path);
  }
}

async function fill(
  tar: Pack,
  { head, signer }: { head: BackupHead; signer: LineSigner | null },
  entries: AsyncIterable<BackupEntry>,
): Promise<number> {
  try {
    const files: Record<string, ManifestFile> = {};
    await add(tar, headEntry, head);
    for await (const { path, bytes, mode, content, kept } of entries) {
      const sha256 = createHash('sha256');
      await pipeline(content, hashing(sha256), tar.entry({ name: path, size: bytes, mode }));
      const shortened = kept === undefined || kept() === bytes ? {} : { bytes: kept() };
      files[path] = { sha256: sha256.digest('hex'), mode, ...shortened };
    }
    const signature = signer === null ? {} : signManifest({ head, files } as JsonObject, signer);
    await add(tar, endEntry, { files, ...signature });
    tar.finalize();
    return Object.keys(files).length;
  } catch (error) {
    tar.destroy(error as Error);
    throw error;
  }
}

function add(tar: Pack, name: string, content: object): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  tar.entry({ name, mode: 0o600 }, JSON.stringify(content), (error) =>
    error === null || error === undefined ? resolve() : reject(error),
  );
  return promise;
}

function hashing(sha256: Hash): Transform {
  return new Transform({
    transform(chunk: Buffer, _, next) {
      sha256.update(chunk);
      next(null, chunk);
    },
  });
}
