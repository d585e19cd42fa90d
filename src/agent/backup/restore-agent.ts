import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { loadConfig, type ServiceConfig } from '../../actors/config/config.ts';
import {
  checkBackup,
  finishedFilesOf,
  finishedPath,
  hasLogOfBackup,
  isContinued,
  logFilesOf,
  logNameInCopy,
  markRestored,
  type PublicKeySet,
} from '../../actors/records/records.ts';
import { codeOf } from '../../machines/error-code.ts';
import { agentFiles } from '../start/agent-files.ts';
import { assumedEnvironment } from '../start/lenient-environment.ts';
import { lockFiles } from '../start/lock-files.ts';
import { stateFiles } from '../start/state-paths.ts';
import { timeInName } from './backup-agent.ts';
import { BackupError, type BackupHead, storeEntry } from './backup-format.ts';
import { backupKeys } from './backup-keys.ts';
import { type BackupTrust, type ReadBackup, readBackup } from './read-backup.ts';

export interface RestoreParts {
  /** Absolute path of the backup. */
  path: string;
  /** Absolute path of the agent's folder. */
  directory: string;
  env: NodeJS.ProcessEnv;
  /** True replaces a store that is there; the former one is kept next to it. */
  replaces: boolean;
  /** Public keys to check the signature with; `null` takes those of the agent in the folder. */
  keys: PublicKeySet | null;
  /** True accepts a backup without a signature by one of the keys. */
  acceptsUnverified: boolean;
  /** Epoch milliseconds. */
  now: number;
}

/** What was restored. */
export interface Restored {
  head: BackupHead;
  config: ServiceConfig;
  /** Number of the agent's own files; 0 where the folder had an agent. */
  files: number;
  /** `kept` if the log in the folder is the one of the backup or continues it. */
  log: 'kept' | 'restored';
  /** True if that log shows what happened since the backup. */
  isCurrent: boolean;
  /** Path of the former store; `null` for none. */
  former: string | null;
  /** Name of the key that signed the backup; `null` if the signature was not checked. */
  signedBy: string | null;
}

/**
 * Reads a backup whole and checks it without writing; without keys, its signature is not checked. Rejects with
 * BackupError.
 */
export async function checkBackupFile(
  path: string,
  keys: PublicKeySet | null = null,
): Promise<ReadBackup> {
  const trust = { keys: keys ?? noKeys, acceptsUnverified: keys === null };
  return readBackup(path, { into: null, trust, accept: () => undefined });
}

/**
 * Restores an agent from a backup: into a new or empty folder with all its files, else the store alone. A log that
 * continues the one of the backup stays. Everything is checked before the first file moves. Rejects with BackupError,
 * StoreError, DirectoryLockedError or FileLockedError.
 */
export async function restoreAgent(parts: RestoreParts): Promise<Restored> {
  const { path, directory, env } = parts;
  const present = isEmpty(directory) ? null : await presentAgent(parts);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stack = new AsyncDisposableStack();
  try {
    if (present !== null) lockFiles(stack, directory, present);
    for (const name of readdirSync(directory).filter(isStage)) rmSync(join(directory, name), gone);
    const stage = mkdtempSync(join(directory, stagePrefix));
    stack.defer(() => rmSync(stage, gone));
    const { head, signedBy } = await readBackup(path, {
      into: stage,
      trust: await trustOf(parts, present),
      accept: (found) => checkAgent(parts, present, found),
    });
    const config = present ?? (await configOf(join(stage, 'agent'), env));
    if (present === null) {
      checkPlace(directory, config, parts.replaces);
      lockFiles(stack, directory, config);
    }
    const checked = await checkStage(stage, directory, config);
    const isNew = present === null;
    return place({ ...parts, ...checked, stage, head, signedBy, config, isNew });
  } finally {
    await stack.disposeAsync();
  }
}

const noKeys: PublicKeySet = { keys: [] };

/** The keys are never those of the backup itself, which may be forged. */
async function trustOf(
  { directory, env, keys, acceptsUnverified }: RestoreParts,
  present: ServiceConfig | null,
): Promise<BackupTrust> {
  if (keys !== null) return { keys, acceptsUnverified };
  if (present === null) return { keys: noKeys, acceptsUnverified };
  const { trusted } = await backupKeys(directory, present, { env, passphrase: null });
  return { keys: trusted, acceptsUnverified };
}

const gone = { recursive: true, force: true } as const;
const stagePrefix = '.restoring-';
const isStage = (name: string): boolean => name.startsWith(stagePrefix);

function isEmpty(directory: string): boolean {
  return !existsSync(directory) || readdirSync(directory).every(isStage);
}

/** Reads the agent that is in the folder, and checks that its store may be replaced. */
async function presentAgent({ directory, env, replaces }: RestoreParts): Promise<ServiceConfig> {
  if (!existsSync(join(directory, 'service.yaml'))) {
    throw new BackupError(
      `${directory} is not empty and has no service.yaml; name a new folder with --dir`,
    );
  }
  const config = await configOf(directory, env);
  if (config.store.kind !== 'sqlite') {
    throw new BackupError(
      `the tasks of ${directory} are in PostgreSQL, which a backup of a folder cannot restore; restore the database, or name a new folder with --dir`,
    );
  }
  checkPlace(directory, config, replaces);
  return config;
}

/** A new folder too may name a store elsewhere that is there. */
function checkPlace(directory: string, config: ServiceConfig, replaces: boolean): void {
  const store = storePath(directory, config);
  if (replaces || !existsSync(store)) return;
  throw new BackupError(
    `${store} is there; add --replace to put the store of the backup in its place, which keeps the present one next to it`,
  );
}

/** Returns the file of a store behind links, since SQLite too keeps its write-ahead log there. */
function storePath(directory: string, { store }: ServiceConfig): string {
  const path = resolve(directory, store.path);
  if (existsSync(path)) return realpathSync(path);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  throw new BackupError(
    `${path} is a link to a file that is not there; restore its target, such as a disk to mount, or remove the link`,
  );
}

function checkAgent(
  { path, directory }: RestoreParts,
  present: ServiceConfig | null,
  { agent_id: agentId }: BackupHead,
): void {
  if (present === null || present.agent_id === agentId) return;
  throw new BackupError(
    `${path} is a backup of agent ${agentId}, and ${directory} has agent ${present.agent_id}; name another folder with --dir`,
  );
}

async function configOf(directory: string, env: NodeJS.ProcessEnv): Promise<ServiceConfig> {
  const loaded = loadConfig(directory, await assumedEnvironment(directory, env));
  if (loaded.ok) return loaded.config;
  const [problem] = loaded.problems;
  throw new BackupError(
    `${join(directory, 'service.yaml')}:${problem?.line ?? 1}:${problem?.column ?? 1}: ${problem?.message ?? 'it cannot be read'}; correct it, or name a new folder with --dir`,
  );
}

/** Checks the staged store and log, and the log in the folder. */
async function checkStage(
  stage: string,
  directory: string,
  config: ServiceConfig,
): Promise<Pick<Restored, 'log' | 'isCurrent'>> {
  const { path, chain } = config.audit;
  const store = stagedStore(stage);
  await checkBackup({ store, log: stagedLog(stage), chain });
  const log = resolve(directory, path);
  if (logFilesOf(log).length === 0) return { log: 'restored', isCurrent: false };
  const isContinuation = await isContinued({ store, log, chain });
  return { log: 'kept', isCurrent: isLogCurrent(storePath(directory, config), isContinuation) };
}

/**
 * The log may come from an earlier restore that no start has followed: the present store then has the mark, or an
 * interrupted restore has placed the log alone.
 */
function isLogCurrent(store: string, isContinuation: boolean): boolean {
  return existsSync(store) ? !hasLogOfBackup(store) : isContinuation;
}

function stagedStore(stage: string): string {
  return join(stage, storeEntry);
}

function stagedLog(stage: string): string {
  return join(stage, 'log', logNameInCopy);
}

type Placing = RestoreParts &
  Omit<Restored, 'files' | 'former'> & { stage: string; isNew: boolean };

/**
 * Moves the staged files into place: the log before the store, since a store without its log is refused at the start,
 * and `service.yaml` last, since there is no agent without it.
 */
function place(placing: Placing): Restored {
  const { stage, directory, config, head, log, isCurrent, signedBy, now, isNew } = placing;
  const [staged, store] = [stagedStore(stage), storePath(directory, config)];
  const backupAt = Date.parse(head.created_at);
  markRestored(staged, { backupAt, hasOldLog: !isCurrent, signedBy });
  if (log === 'restored') moveLog(stagedLog(stage), resolve(directory, config.audit.path));
  const former = keepFormer(store, now);
  move(staged, store);
  const files = isNew ? moveFiles(join(stage, 'agent'), directory, config) : 0;
  return { head, config, files, log, isCurrent, former, signedBy };
}

function moveLog(staged: string, log: string): void {
  for (const { path, first } of finishedFilesOf(staged)) move(path, finishedPath(log, first));
  if (existsSync(staged)) move(staged, log);
}

/**
 * Keeps a store under another name; returns `null` if there is none. Its write-ahead log goes too, also one without its
 * store: SQLite would apply it to the next store.
 */
function keepFormer(store: string, now: number): string | null {
  const former = `${store}.replaced-${timeInName(now)}`;
  const isThere = existsSync(store);
  if (isThere) linkSync(store, former);
  for (const end of ['-wal', '-shm', '-journal']) {
    if (existsSync(`${store}${end}`)) renameSync(`${store}${end}`, `${former}${end}`);
  }
  return isThere ? former : null;
}

function moveFiles(from: string, to: string, config: ServiceConfig): number {
  const { files } = agentFiles(from, stateFiles(from, config));
  for (const { path } of files) move(join(from, path), join(to, path));
  return files.length;
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    // The store or the log may be configured to be on another disk.
    if (codeOf(error) !== 'EXDEV') throw error;
    copyFileSync(from, `${to}.restoring`);
    syncFile(`${to}.restoring`);
    renameSync(`${to}.restoring`, to);
  }
  syncFile(dirname(to));
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
