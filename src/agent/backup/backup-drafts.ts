import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isAlive } from '../../actors/process/process.ts';
import { codeOf } from '../../machines/error-code.ts';

/**
 * Time without a write after which the draft of a dead process is removed, in milliseconds. The process id alone proves
 * nothing in a folder that several machines or containers write to.
 */
const abandonedAfter = 600_000;

/** Folder in `.service` for the copy of the store while a backup is written; the number is the process. */
const folderName = /^backing-up-(\d+)-/;

const partialName = /^(.*)\.(?:partial|store)-(\d+)$/;

/** Makes a private folder in an agent's `.service`, and removes those of killed backups. */
export function draftFolder(directory: string, now: number): string {
  const parent = join(directory, '.service');
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  removeAbandoned(parent, now, (name) => folderName.exec(name)?.[1]);
  return mkdtempSync(join(parent, `backing-up-${process.pid}-`));
}

/** Returns the path of an unfinished backup, and removes those of killed backups to the same place. */
export function draftFile(path: string, agentId: string, now: number): string {
  removeAbandoned(dirname(path), now, (name) => {
    const [, target = '', pid] = partialName.exec(name) ?? [];
    return target === basename(path) || isBackupName(target, agentId) ? pid : undefined;
  });
  return `${path}.partial-${process.pid}`;
}

/** Returns whether a name is one that `backupName` gives to backups of an agent. */
export function isBackupName(name: string, agentId: string): boolean {
  const isOfAgent = name.startsWith(`${agentId}-`);
  return isOfAgent && /^\d{8}T\d{6}Z\.tar\.gz$/.test(name.slice(agentId.length + 1));
}

function removeAbandoned(
  folder: string,
  now: number,
  processOf: (name: string) => string | undefined,
): void {
  for (const name of readdirSync(folder)) {
    const pid = Number(processOf(name));
    const path = join(folder, name);
    // In a container each backup may have the same process id.
    const isGone = pid === process.pid || !isAlive(pid);
    if (pid > 0 && isGone && isUntouched(path, now)) removeIfAllowed(path);
  }
}

/** Another user's file in a shared folder stays. */
function removeIfAllowed(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(codeOf(error))) throw error;
  }
}

function isUntouched(path: string, now: number): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && now - found.mtimeMs > abandonedAfter;
}
