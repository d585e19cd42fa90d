import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { finishedFilesOf, finishedPath } from '../log/log-files.ts';
import type { AuditHead } from '../store/audit-head.ts';

/**
 * Renames the finished file and makes it read-only. Every step may be done
 * already: a process that died in the middle is carried on from where it was.
 *
 * @param ready puts the file on disk as the store knows it; called before it gets its name
 */
export function archiveFile(
  path: string,
  { first }: NonNullable<AuditHead['finishing']>,
  ready: () => void,
): void {
  const finished = finishedPath(path, first);
  if (!existsSync(finished)) {
    ready();
    renameSync(path, finished);
    syncFolder(dirname(path));
  }
  chmodSync(finished, 0o400);
}

/** Syncs a folder, so that the names in it are on disk. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Deletes the finished files whose lines all come before a line; one that cannot be
 * deleted stays until the next time.
 */
export function pruneFiles(path: string, keptFrom: number): void {
  try {
    for (const file of finishedFilesOf(path)) {
      if (file.first < keptFrom) rmSync(file.path, { force: true });
    }
  } catch {
    // The log does without these files and says so already; nothing that is kept depends on them.
  }
}
