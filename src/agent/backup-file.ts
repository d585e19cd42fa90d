import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { link, open, rename, rm, truncate } from 'node:fs/promises';
import { dirname, join, posix, sep } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import type { Pack } from 'tar-stream';
import { z } from 'zod';
import {
  type LineSigner,
  manifestFault,
  type PublicKeySet,
  type SignatureReason,
  signManifest,
} from '../actors/records/records.ts';
import { codeOf } from '../machines/error-code.ts';
import { isJsonObject, type JsonObject, parseJson } from '../machines/json.ts';

/** A backup that cannot be used; the message gives reason and remedy. */
export class BackupError extends Error {
  readonly code = 'backup_unusable';
}

/** Version of the layout below; a later one is refused. Version 1 had no signature. */
const format = 2;

/** First entry of a backup. */
const headEntry = 'backup.json';

/**
 * Last entry: the digests of all files, and a signature of them and the first entry. A file without it was cut.
 */
const endEntry = 'end.json';

/** Path of the store in a backup. */
export const storeEntry = 'state/tasks.db';

const headSchema = z.object({
  format: z.int(),
  agent_id: z.string(),
  release: z.string(),
  created_at: z.iso.datetime(),
  store_version: z.int(),
});

/** A file as it was written. */
const fileSchema = z.object({
  sha256: z.string(),
  /** Permissions; version 1 lacks them. */
  mode: z.int().optional(),
  /** Number of bytes to keep of a file that shrank while it was read; the rest is filled with zeros. */
  bytes: z.int().min(0).optional(),
});

type ManifestFile = z.infer<typeof fileSchema>;

const endSchema = z.union([
  z.object({ files: z.record(z.string(), fileSchema), kid: z.string().optional() }),
  z
    .record(z.string(), z.string())
    .transform((digests) => ({ files: filesOf(digests), kid: undefined })),
]);

type End = z.infer<typeof endSchema>;

/** Describes a backup (its `backup.json`). */
export type BackupHead = z.infer<typeof headSchema>;

/** Folders of a backup: the agent's own files, its store, and its log. */
const backupFolders = ['agent', 'state', 'log'] as const;

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

/** How the signature of a backup is checked. */
export interface BackupTrust {
  /** Public keys that the backup does not supply. */
  keys: PublicKeySet;
  /** True accepts a backup without a signature by one of the keys. */
  acceptsUnverified: boolean;
}

/** Options of reading a backup. */
export interface ReadOptions {
  /** Folder for the files; `null` checks the backup without writing. */
  into: string | null;
  trust: BackupTrust;
  /** Called with the head before any file is written; throws to refuse the backup. */
  accept: (head: BackupHead) => void;
}

/** A backup whose files are as they were written. */
export interface ReadBackup {
  head: BackupHead;
  files: readonly string[];
  /** Name of the key that signed it; `null` if the signature was not checked. */
  signedBy: string | null;
}

/**
 * Reads a backup, and checks every file against its digest and the digests against their signature. Rejects with
 * BackupError for a file that is no backup, was cut or changed, leads out of its folder, or is not signed by a trusted
 * key. Files that were written by then remain in `into`.
 */
export async function readBackup(
  path: string,
  { into, trust, accept }: ReadOptions,
): Promise<ReadBackup> {
  if (!existsSync(path)) {
    const cause = Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
    throw new BackupError(`there is no file ${path}; name a file that holdpoint backup wrote`, {
      cause,
    });
  }
  const { head, end, found } = await readEntries(path, into, accept);
  const changed = changedFile(found, end?.value.files ?? {});
  if (end === null || changed !== null) throw cut(path, changed);
  const manifest = { ...end.raw, head: head.raw };
  const signedBy = await verifiedKey(path, manifest, trust);
  if (into !== null) await shorten(into, end.value);
  return { head: head.value, files: Object.keys(found), signedBy };
}

/** An entry that describes the backup: as it was written, and as it was understood. */
interface Described<Value> {
  raw: JsonObject;
  value: Value;
}

async function readEntries(
  path: string,
  into: string | null,
  accept: ReadOptions['accept'],
): Promise<{
  head: Described<BackupHead>;
  end: Described<End> | null;
  found: Record<string, ManifestFile>;
}> {
  const { extract } = await import('tar-stream');
  const entries = extract();
  const read = pipeline(createReadStream(path), createGunzip(), entries);
  // The loop below receives the error too.
  read.catch(() => undefined);
  let head: Described<BackupHead> | null = null;
  let end: Described<End> | null = null;
  const found: Record<string, ManifestFile> = {};
  try {
    for await (const entry of entries) {
      const { name, type, mode } = entry.header;
      if (head === null) {
        if (name !== headEntry) throw noBackup(path);
        head = headOf(path, await textOf(entry));
        accept(head.value);
      } else if (name === endEntry) {
        end = endOf(await textOf(entry));
      } else {
        if (type !== 'file' || !isInside(name) || name in found) throw outside(path, name);
        const sha256 = await store(entry, into === null ? null : join(into, name), mode);
        found[name] = { sha256, mode: mode & 0o777 };
      }
    }
    await read;
  } catch (error) {
    throw readingError(path, error, head !== null);
  }
  if (head === null) throw noBackup(path);
  return { head, end, found };
}

function changedFile(
  found: Record<string, ManifestFile>,
  written: Record<string, ManifestFile>,
): string | null {
  const isSame = (name: string): boolean => {
    const [one, other] = [found[name], written[name]];
    return one?.sha256 === other?.sha256 && one?.mode === (other?.mode ?? one?.mode);
  };
  const names = new Set([...Object.keys(found), ...Object.keys(written)]);
  return [...names].find((name) => !isSame(name)) ?? null;
}

/**
 * Returns the key that signed a manifest; `null` if no key can check it and that is accepted. Rejects with BackupError.
 */
async function verifiedKey(
  path: string,
  manifest: JsonObject,
  { keys, acceptsUnverified }: BackupTrust,
): Promise<string | null> {
  const fault = await manifestFault(manifest, keys);
  const { kid } = manifest;
  if (fault === null && typeof kid === 'string') return kid;
  const isUnverified = fault === 'sig is missing' || fault === 'kid is not one of the keys';
  if (isUnverified && acceptsUnverified) return null;
  throw new BackupError(`${path} ${unverified(fault, JSON.stringify(kid), keys)}`);
}

function unverified(fault: SignatureReason | null, kid: string, { keys }: PublicKeySet): string {
  const remedy = 'or add --accept-unverified if you trust the place where it was kept';
  if (fault === 'sig is missing') {
    return `is not signed, so it may be forged; use a signed backup, ${remedy}`;
  }
  if (fault !== 'kid is not one of the keys') {
    return 'was changed: its signature does not match; nothing was restored, so use another backup';
  }
  return keys.length === 0
    ? `is signed with the key ${kid}, and no public key of the agent is here; give it with --keys, ${remedy}`
    : `is signed with the key ${kid}, which is none of the agent; give that key with --keys, use another backup, ${remedy}`;
}

/** Removes the zeros that fill up a file that shrank while it was read. */
async function shorten(into: string, { files }: End): Promise<void> {
  for (const [name, { bytes }] of Object.entries(files)) {
    if (bytes !== undefined) await truncate(join(into, name), bytes);
  }
}

function isInside(name: string): boolean {
  const [folder] = name.split('/');
  // A name on Linux may have a backslash.
  const isSeparated = sep === '\\' && name.includes(sep);
  const isPlain = posix.normalize(name) === name && !isSeparated && !name.includes('\0');
  if (!isPlain || !name.includes('/')) return false;
  // SQLite would apply a journal next to the store.
  return folder === 'state' ? name === storeEntry : backupFolders.some((known) => known === folder);
}

/** Maximum bytes of the two entries that describe a backup; a million files take less. */
const longestText = 256 * 1024 * 1024;

async function textOf(entry: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of entry as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > longestText) throw new BackupError('its description is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

async function store(
  entry: AsyncIterable<unknown>,
  target: string | null,
  mode: number,
): Promise<string> {
  const sha256 = createHash('sha256');
  if (target !== null) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const file = target === null ? null : await open(target, 'wx', mode & 0o777);
  try {
    for await (const chunk of entry as AsyncIterable<Buffer>) {
      sha256.update(chunk);
      await file?.writeFile(chunk);
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  return sha256.digest('hex');
}

function headOf(path: string, text: string): Described<BackupHead> {
  const raw = parseJson(text);
  const head = headSchema.safeParse(raw).data;
  if (head === undefined || !isJsonObject(raw)) throw noBackup(path);
  if (head.format > format) {
    throw new BackupError(
      `${path} was made by release ${head.release}, whose backups this release cannot read; restore it with that release`,
    );
  }
  return { raw, value: head };
}

function endOf(text: string): Described<End> | null {
  const raw = parseJson(text);
  const end = endSchema.safeParse(raw).data;
  return end === undefined || !isJsonObject(raw) ? null : { raw, value: end };
}

function filesOf(digests: Record<string, string>): Record<string, ManifestFile> {
  return Object.fromEntries(Object.entries(digests).map(([path, sha256]) => [path, { sha256 }]));
}

function noBackup(path: string): BackupError {
  return new BackupError(
    `${path} is no backup of an agent; name a file that holdpoint backup wrote`,
  );
}

function cut(path: string, name: string | null): BackupError {
  const what =
    name === null ? 'its end is missing' : `${JSON.stringify(name)} is not as it was written`;
  return new BackupError(
    `${path} was cut or changed: ${what}; nothing was restored, so use another backup`,
  );
}

function outside(path: string, name: string): BackupError {
  return new BackupError(
    `${path} has an entry ${JSON.stringify(name)} that no backup has; nothing was restored, so use another backup`,
  );
}

/** A damaged archive fails in the decompression, the tar format or at its end. */
function readingError(path: string, error: unknown, isBackup: boolean): unknown {
  if (error instanceof BackupError || isOfDisk(error)) return error;
  return isBackup ? cut(path, null) : noBackup(path);
}

function isOfDisk(error: unknown): boolean {
  const { code, syscall } = Object(error) as { code?: unknown; syscall?: unknown };
  return typeof code === 'string' && typeof syscall === 'string';
}
