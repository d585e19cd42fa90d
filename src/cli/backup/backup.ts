import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { systemClock } from '../../actors/system-clock.ts';
import { backupAgent, backupName, pruneBackups } from '../../agent/backup/backup-agent.ts';
import { backupKeys } from '../../agent/backup/backup-keys.ts';
import { codeOf } from '../../machines/error-code.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { counted } from '../counted.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import { givenPassphrase } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { sqliteAgent } from './sqlite-agent.ts';

export interface BackupOptions {
  dir: string;
  keep?: number;
}

/** `backup PATH`: writes one backup of an agent, and deletes old ones with --keep (docs/backup.md). */
export async function backup(
  session: Session,
  path: string,
  options: BackupOptions,
): Promise<void> {
  const { output } = session;
  const { directory, config } = await sqliteAgent(session, options.dir);
  const { agent_id: agentId } = config;
  const now = systemClock().now();
  const isFolder = path.endsWith('/') || isDirectory(path);
  if (options.keep !== undefined && !isFolder) {
    throw new CliError('--keep needs a folder', {
      code: 'usage',
      exitCode: exitCodes.usage,
      hint: 'name a folder for the backups instead of a file',
    });
  }
  const file = isFolder ? join(resolve(path), backupName(agentId, now)) : resolve(path);
  if (existsSync(file)) throw cannotWrite(file, 'is there already', undefined);
  if (isBackedUp(directory, file)) {
    throw cannotWrite(
      file,
      'is in the folder of the agent, so each backup would contain the earlier ones',
      undefined,
    );
  }
  if (!existsSync(resolve(directory, config.store.path))) {
    throw new CliError(plainLine(`${agentId} has no tasks yet, so there is nothing to back up`), {
      code: 'not_found',
      exitCode: exitCodes.notFound,
      hint: 'start the agent first',
    });
  }
  const passphrase = await givenPassphrase(session);
  const { signer, unsigned } = await backupKeys(directory, config, {
    env: session.env,
    passphrase,
  });
  const stop = showProgress(output, 'writing the backup');
  const made = await writing(file, async () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return backupAgent({ directory, config, path: file, signer, now });
  }).finally(stop);
  const deleted = options.keep === undefined ? [] : pruneBackups(file, agentId, options.keep);
  output.line(
    plainLine(
      `${agentId} is backed up in ${file}: ${counted(made.tasks, 'task')} (${made.waiting} waiting), ${counted(made.lines, 'line')} of the log, ${counted(made.files, 'file')}, ${sizeOf(made.bytes)}`,
    ),
  );
  if (made.leftOut.length > 0) output.note(plainLine(`not in it: ${made.leftOut.join(', ')}`));
  if (made.changed.length > 0) {
    output.warn(
      plainLine(`changed meanwhile, so their end is missing: ${made.changed.join(', ')}`),
    );
  }
  if (made.fault !== null) {
    output.warn(plainLine(`restore will refuse this backup: its store ${made.fault}`));
  }
  if (unsigned !== null) output.warn(plainLine(`the backup is not signed: ${unsigned}`));
  if (deleted.length > 0) output.note(`deleted: ${counted(deleted.length, 'older backup')}`);
  output.note('keep it private: it has the secrets of the agent');
  output.json({
    file,
    agent_id: agentId,
    tasks: made.tasks,
    waiting: made.waiting,
    lines: made.lines,
    files: made.files,
    bytes: made.bytes,
    left_out: [...made.leftOut],
    changed: [...made.changed],
    signed_by: signer?.kid ?? null,
    deleted,
  });
}

/** Error codes of SQLite for a full disk and for a file that it cannot create. */
const sqlite = { full: 13, cannotOpen: 14 };

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns whether a backup of a folder would contain a new file. */
function isBackedUp(directory: string, file: string): boolean {
  let folder = dirname(file);
  while (!existsSync(folder)) folder = dirname(folder);
  const path = relative(
    realpathSync(directory),
    join(realpathSync(folder), relative(folder, file)),
  );
  const isOutside = path.startsWith(`..${sep}`);
  return !isOutside && !path.startsWith(join('.service', 'backups', sep));
}

/** Errors of the disk name the file that could not be written. */
async function writing<Made>(file: string, write: () => Promise<Made>): Promise<Made> {
  try {
    return await write();
  } catch (error) {
    const code = codeOf(error);
    const { errcode, path } = Object(error) as { errcode?: unknown; path?: unknown };
    if (code === 'ENOSPC' || errcode === sqlite.full) {
      throw cannotWrite(typeof path === 'string' ? path : file, 'does not fit on its disk', error);
    }
    if (['EACCES', 'EROFS', 'ENOTDIR', 'ENOENT'].includes(code) || errcode === sqlite.cannotOpen) {
      throw cannotWrite(file, 'cannot be written', error);
    }
    throw error;
  }
}

function cannotWrite(file: string, why: string, cause: unknown): CliError {
  const hint = 'name another file or folder for the backup';
  return new CliError(plainLine(`${file} ${why}`), { code: 'cannot_write', hint, cause });
}

function sizeOf(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
