import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { finishedFilesOf, finishedPath } from '../log/log-files.ts';
import type { AuditHead } from '../store/audit-head.ts';

/**
 * Renames the finished file and makes it read-only. Idempotent: continues after a crash at any step.
 *
 * @param ready writes the file to disk as recorded in the store; called before the file is renamed
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

/** Flushes a folder's entries to disk. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Deletes finished files whose lines all precede a line number; a file that cannot be deleted is retried next time. */
export function pruneFiles(path: string, keptFrom: number): void {
  try {
    for (const file of finishedFilesOf(path)) {
      if (file.first < keptFrom) rmSync(file.path, { force: true });
    }
  } catch {
    // The log has already recorded the removal of these files; nothing depends on them.
  }
}
