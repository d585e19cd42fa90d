import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync } from 'node:fs';
import { chmod, open, truncate } from 'node:fs/promises';
import { dirname, join, posix, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import {
  manifestFault,
  type PublicKeySet,
  type SignatureReason,
} from '../../actors/records/records.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../machines/json.ts';
import {
  BackupError,
  type BackupHead,
  backupFolders,
  type End,
  endEntry,
  endSchema,
  format,
  headEntry,
  headSchema,
  type ManifestFile,
  storeEntry,
} from './backup-format.ts';

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
  for (const [name, { bytes, mode }] of Object.entries(files)) {
    if (bytes === undefined) continue;
    const path = join(into, name);
    // A file may be read-only for its owner too.
    await chmod(path, 0o600);
    await truncate(path, bytes);
    if (mode !== undefined) await chmod(path, mode & 0o777);
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
