import {
  createReadStream,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { ServiceConfig } from '../actors/config/config.ts';
import { openRegularFile } from '../actors/open-regular-file.ts';
import { SnapshotLog, snapshotStore } from '../actors/records/records.ts';
import { codeOf } from '../machines/error-code.ts';
import { version as release } from '../version.ts';
import { type AgentFile, type AgentFiles, agentFiles, linkedFile } from './agent-files.ts';
import { type BackupEntry, writeBackup } from './backup-file.ts';
import { stateFiles } from './state-paths.ts';

export interface BackupParts {
  /** Absolute path of the agent's folder. */
  directory: string;
  config: ServiceConfig;
  /** Absolute path of the backup, which must not exist. */
  path: string;
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
}

/**
 * Writes the store, the log up to the same commit, and the files of an agent to one file. The agent may run: it writes
 * on, and its later changes are not in the backup. Throws StoreError, or the error of the disk; the file is then
 * removed.
 */
export async function backupAgent({ directory, config, path, now }: BackupParts): Promise<Backup> {
  const draft = `${path}.store-${process.pid}`;
  try {
    const snapshot = snapshotStore(resolve(directory, config.store.path), draft);
    const log = new SnapshotLog(resolve(directory, config.audit.path), snapshot.head);
    try {
      const { files, leftOut } = agentFiles(directory, stateFiles(directory, config));
      const secrets = resolve(directory, config.secrets.path);
      const isElsewhere = relative(directory, secrets).startsWith('..');
      if (isElsewhere && existsSync(secrets)) leftOut.push(secrets);
      const head = {
        agent_id: config.agent_id,
        release,
        created_at: new Date(now).toISOString(),
        store_version: snapshot.version,
      };
      const content = entries(draft, log, { directory, files, leftOut });
      const written = await writeBackup(path, head, content);
      const {
        tasks,
        waiting,
        head: { events: lines },
      } = snapshot;
      return { path, tasks, waiting, lines, ...written, leftOut };
    } finally {
      log.close();
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

async function* entries(
  store: string,
  log: SnapshotLog,
  { directory, files, leftOut }: AgentFiles & { directory: string },
): AsyncGenerator<BackupEntry> {
  const { size } = statSync(store);
  yield { path: 'state/tasks.db', bytes: size, mode: 0o600, content: createReadStream(store) };
  for (const { name, descriptor, bytes } of log.parts) {
    const range = { fd: descriptor, autoClose: false, start: 0, end: bytes - 1 };
    const content = bytes === 0 ? Readable.from([]) : createReadStream('', range);
    yield { path: `log/${name}`, bytes, mode: 0o600, content };
  }
  for (const { path, source } of files) {
    const entry = await agentEntry(directory, { path, source });
    if (entry === 'leftOut') leftOut.push(path);
    else if (entry !== null) yield entry;
  }
}

/** Maximum size of a file that is read at once, so that it is whole even if a tool writes to it meanwhile. */
const readAtOnce = 64 * 1024 * 1024;

/**
 * Returns `null` for a file that a tool has removed since the folder was read, and `leftOut` for one that it made
 * unreadable, or has replaced by a link out of the folder: a restore would give the tool what the link named.
 */
async function agentEntry(
  directory: string,
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
    return { ...entry, bytes: size, content: file.createReadStream({ end: size - 1 }) };
  }
  try {
    const bytes = await file.readFile();
    return { ...entry, bytes: bytes.length, content: Readable.from([bytes]) };
  } finally {
    await file.close();
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
    .filter((name) => name.startsWith(`${agentId}-`))
    .filter((name) => /^\d{8}T\d{6}Z\.tar\.gz$/.test(name.slice(agentId.length + 1)))
    .toSorted();
  const old = ours
    .slice(0, Math.max(0, ours.length - keep))
    .filter((name) => name !== basename(path));
  return old.map((name) => {
    rmSync(join(folder, name));
    return join(folder, name);
  });
}
