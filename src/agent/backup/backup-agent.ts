import {
  closeSync,
  createReadStream,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { openRegularFile } from '../../actors/open-regular-file.ts';
import { type LineSigner, SnapshotLog, snapshotStore } from '../../actors/records/records.ts';
import { codeOf } from '../../machines/error-code.ts';
import { version as release } from '../../version.ts';
import { type AgentFile, type AgentFiles, agentFiles, linkedFile } from '../start/agent-files.ts';
import { stateFiles } from '../start/state-paths.ts';
import { draftFile, draftFolder, isBackupName } from './backup-drafts.ts';
import { storeEntry } from './backup-format.ts';
import { type BackupEntry, writeBackup } from './write-backup.ts';

export interface BackupParts {
  /** Absolute path of the agent's folder. */
  directory: string;
  config: ServiceConfig;
  /** Absolute path of the backup, which must not exist. */
  path: string;
  /** `null` writes no signature. */
  signer: LineSigner | null;
  /** Epoch milliseconds. */
  now: number;
}

/** What a backup contains. */
export interface Backup {
  path: string;
  tasks: number;
  waiting: number;
  /** Number of the last line of the log. */
  lines: number;
  files: number;
  bytes: number;
  /** Paths of the agent's folder that are not in it. */
  leftOut: readonly string[];
  /** Paths of files that shrank while they were read, so that their end is missing. */
  changed: readonly string[];
  /** Why a restore refuses the store, such as a foreign trigger; `null` for nothing. */
  fault: string | null;
}

/** Bytes of its disk that a copy of the store leaves to the agent. */
const leftToAgent = 64 * 1024 * 1024;

/**
 * Writes the store, the log up to the same commit, and the files of an agent to one file. The agent may run: it writes
 * on, and its later changes are not in the backup. Throws StoreError, or the error of the disk; the file is then
 * removed.
 *
 * Everything that is signed is read from the agent's own folder: others may write to the folder of the backup.
 */
export async function backupAgent(parts: BackupParts): Promise<Backup> {
  const { directory, config, path, signer, now } = parts;
  const source = resolve(directory, config.store.path);
  const folder = draftFolder(directory, now);
  try {
    checkSpace(folder, source);
    const copy = join(folder, 'tasks.db');
    const snapshot = snapshotStore(source, copy);
    const log = new SnapshotLog(resolve(directory, config.audit.path), snapshot.head);
    const store = openSync(copy, 'r');
    try {
      const found = { ...filesOf(parts), changed: [] };
      const head = {
        agent_id: config.agent_id,
        release,
        created_at: new Date(now).toISOString(),
        store_version: snapshot.version,
      };
      const draft = draftFile(path, config.agent_id, now);
      const content = entries(store, log, { directory, ...found });
      const written = await writeBackup({ path, draft, head, signer }, content);
      const { tasks, waiting, fault } = snapshot;
      const { leftOut, changed } = found;
      return {
        path,
        tasks,
        waiting,
        lines: snapshot.head.events,
        ...written,
        leftOut,
        changed,
        fault,
      };
    } finally {
      log.close();
      closeSync(store);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function filesOf({ directory, config }: BackupParts): AgentFiles {
  const found = agentFiles(directory, stateFiles(directory, config));
  const secrets = resolve(directory, config.secrets.path);
  const isElsewhere = relative(directory, secrets).startsWith('..');
  if (isElsewhere && existsSync(secrets)) found.leftOut.push(secrets);
  return found;
}

/** An agent whose disk is full refuses work. Throws an error with the code ENOSPC. */
function checkSpace(folder: string, store: string): void {
  const size = statSync(store, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= size + leftToAgent) return;
  throw Object.assign(new Error(`no space for a copy of ${store}`), {
    code: 'ENOSPC',
    path: `the copy of ${store}`,
  });
}

interface FilesToRead extends AgentFiles {
  directory: string;
  /** Receives the paths of files that shrink while they are read. */
  changed: string[];
}

async function* entries(
  store: number,
  log: SnapshotLog,
  parts: FilesToRead,
): AsyncGenerator<BackupEntry> {
  const { size } = fstatSync(store);
  yield { path: storeEntry, bytes: size, mode: 0o600, content: contentOf(store, size) };
  for (const { name, descriptor, bytes } of log.parts) {
    const content = contentOf(descriptor, bytes);
    yield { path: `log/${name}`, bytes, mode: 0o600, content };
  }
  for (const file of parts.files) {
    const entry = await agentEntry(parts, file);
    if (entry === 'leftOut') parts.leftOut.push(file.path);
    else if (entry !== null) yield entry;
  }
}

/** Reads the first bytes of an open file. */
function contentOf(descriptor: number, bytes: number): Readable {
  if (bytes === 0) return Readable.from([]);
  return createReadStream('', { fd: descriptor, autoClose: false, start: 0, end: bytes - 1 });
}

/** Maximum size of a file that is read at once, so that it is whole even if a tool writes to it meanwhile. */
const readAtOnce = 64 * 1024 * 1024;

/**
 * Returns `null` for a file that a tool has removed since the folder was read, and `leftOut` for one that it made
 * unreadable, or has replaced by a link out of the folder: a restore would give the tool what the link named.
 */
async function agentEntry(
  { directory, changed }: FilesToRead,
  { path, source }: AgentFile,
): Promise<BackupEntry | 'leftOut' | null> {
  const file = await openRegularFile(source).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    if (codeOf(error) === 'EACCES') return 'leftOut' as const;
    throw error;
  });
  if (file === null || file === 'leftOut') return file;
  const { size, mode, ino } = await file.stat();
  if (!isFileInside(directory, source, ino)) {
    await file.close();
    return 'leftOut';
  }
  const entry = { path: `agent/${path}`, mode: mode & 0o777 };
  if (size > readAtOnce) {
    let kept = size;
    const onShort = (bytes: number): void => {
      kept = bytes;
      changed.push(path);
    };
    const content = Readable.from(wholeSize(file, size, onShort));
    return { ...entry, bytes: size, content, kept: () => kept };
  }
  try {
    const bytes = await file.readFile();
    return { ...entry, bytes: bytes.length, content: Readable.from([bytes]) };
  } finally {
    await file.close();
  }
}

/** Reads a file that others may shorten meanwhile, and fills it up with zeros; `onShort` receives the bytes read. */
async function* wholeSize(
  file: FileHandle,
  size: number,
  onShort: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let read = 0;
  for await (const chunk of file.createReadStream({ end: size - 1 })) {
    read += (chunk as Buffer).length;
    yield chunk as Buffer;
  }
  if (read < size) onShort(read);
  for (const zeros = Buffer.alloc(64 * 1024); read < size; read += zeros.length) {
    yield zeros.subarray(0, size - read);
  }
}

/** Returns whether a path names the file of an inode within a folder. */
function isFileInside(directory: string, path: string, inode: number): boolean {
  const target = linkedFile(realpathSync(directory), path);
  return target !== null && lstatSync(target).ino === inode;
}

/** Returns the name of a backup, which sorts by time: `refunds-20261127T031500Z.tar.gz`. */
export function backupName(agentId: string, now: number): string {
  return `${agentId}-${timeInName(now)}.tar.gz`;
}

/** Returns a time for the name of a file: `20261127T031500Z`. */
export function timeInName(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** Deletes the oldest backups of an agent in a folder beyond a number; returns their paths. */
export function pruneBackups(path: string, agentId: string, keep: number): string[] {
  const folder = dirname(path);
  const ours = readdirSync(folder)
    .filter((name) => isBackupName(name, agentId))
    .toSorted();
  const old = ours
    .slice(0, Math.max(0, ours.length - keep))
    .filter((name) => name !== basename(path));
  return old.map((name) => {
    rmSync(join(folder, name));
    return join(folder, name);
  });
}
