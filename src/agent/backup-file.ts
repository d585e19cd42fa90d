import { createHash, type Hash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { link, open, rename, rm } from 'node:fs/promises';
import { dirname, join, posix, sep } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import type { Pack } from 'tar-stream';
import { z } from 'zod';
import { codeOf } from '../machines/error-code.ts';
import { parseJson } from '../machines/json.ts';

/** A backup that cannot be used; the message gives reason and remedy. */
export class BackupError extends Error {
  readonly code = 'backup_unusable';
}

/** Version of the layout below; a later one is refused. */
const format = 1;

/** First entry of a backup. */
const headEntry = 'backup.json';

/** Last entry: the digests of all others. A file without it was cut. */
const endEntry = 'end.json';

const headSchema = z.object({
  format: z.int(),
  agent_id: z.string(),
  release: z.string(),
  created_at: z.iso.datetime(),
  store_version: z.int(),
});

const endSchema = z.record(z.string(), z.string());

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
}

/**
 * Writes a backup as a tar.gz file that only its owner can read, durably and never over another file. The file has its
 * name once it is whole, so a process that ends before leaves none that counts as a backup.
 */
export async function writeBackup(
  path: string,
  head: Omit<BackupHead, 'format'>,
  entries: AsyncIterable<BackupEntry>,
): Promise<{ files: number; bytes: number }> {
  const { pack } = await import('tar-stream');
  const draft = `${path}.partial-${process.pid}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    const tar = pack();
    const zip = createGzip({ level: constants.Z_BEST_SPEED });
    const out = createWriteStream('', { fd: file.fd, autoClose: false });
    const written = pipeline(tar, zip, out);
    const [files] = await Promise.all([fill(tar, head, entries), written]);
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
  head: Omit<BackupHead, 'format'>,
  entries: AsyncIterable<BackupEntry>,
): Promise<number> {
  try {
    const digests: Record<string, string> = {};
    await add(tar, headEntry, { format, ...head });
    for await (const { path, bytes, mode, content } of entries) {
      const sha256 = createHash('sha256');
      await pipeline(content, hashing(sha256), tar.entry({ name: path, size: bytes, mode }));
      digests[path] = sha256.digest('hex');
    }
    await add(tar, endEntry, digests);
    tar.finalize();
    return Object.keys(digests).length;
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

/** Options of reading a backup. */
export interface ReadOptions {
  /** Folder for the files; `null` checks the backup without writing. */
  into: string | null;
  /** Called with the head before any file is written; throws to refuse the backup. */
  accept: (head: BackupHead) => void;
}

/**
 * Reads a backup and checks every file against its digest. Rejects with BackupError for a file that is no backup, was
 * cut or changed, or leads out of its folder. Files that were written by then remain in `into`.
 */
export async function readBackup(
  path: string,
  { into, accept }: ReadOptions,
): Promise<{ head: BackupHead; files: readonly string[] }> {
  if (!existsSync(path)) {
    const cause = Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
    throw new BackupError(`there is no file ${path}; name a file that holdpoint backup wrote`, {
      cause,
    });
  }
  const { extract } = await import('tar-stream');
  const entries = extract();
  const read = pipeline(createReadStream(path), createGunzip(), entries);
  // The loop below receives the error too.
  read.catch(() => undefined);
  let head: BackupHead | null = null;
  let end: Record<string, string> | null = null;
  const digests: Record<string, string> = {};
  try {
    for await (const entry of entries) {
      const { name, type, mode } = entry.header;
      if (head === null) {
        if (name !== headEntry) throw noBackup(path);
        head = headOf(path, await textOf(entry));
        accept(head);
      } else if (name === endEntry) {
        end = endSchema.safeParse(parseJson(await textOf(entry))).data ?? null;
      } else {
        if (type !== 'file' || !isInside(name) || name in digests) throw outside(path, name);
        digests[name] = await store(entry, into === null ? null : join(into, name), mode);
      }
    }
    await read;
  } catch (error) {
    throw readingError(path, error, head !== null);
  }
  if (head === null) throw noBackup(path);
  const changed = changedFile(digests, end);
  if (end === null || changed !== null) throw cut(path, changed);
  return { head, files: Object.keys(digests) };
}

function changedFile(found: Record<string, string>, end: Record<string, string> | null) {
  const names = new Set([...Object.keys(found), ...Object.keys(end ?? {})]);
  return [...names].find((name) => found[name] !== end?.[name]) ?? null;
}

function isInside(name: string): boolean {
  const [folder] = name.split('/');
  // A name on Linux may have a backslash.
  const isSeparated = sep === '\\' && name.includes(sep);
  const isPlain = posix.normalize(name) === name && !isSeparated && !name.includes('\0');
  return isPlain && backupFolders.some((known) => known === folder) && name.includes('/');
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

function headOf(path: string, text: string): BackupHead {
  const head = headSchema.safeParse(parseJson(text)).data;
  if (head === undefined) throw noBackup(path);
  if (head.format > format) {
    throw new BackupError(
      `${path} was made by release ${head.release}, whose backups this release cannot read; restore it with that release`,
    );
  }
  return head;
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
