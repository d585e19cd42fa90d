import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { checkPages, isDamage, ofOtherReleases, StoreError } from '../../actors/records/records.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding } from './check.ts';

const restore = 'restore the file from a backup, or move it away to start without its tasks';

/** Checks that the pages of the task store are intact and its tasks can be resumed. Writes nothing. */
export function checkStore(path: string): Finding {
  if (!existsSync(path)) return { status: 'pass', message: 'there is no task store yet' };
  try {
    return examine(path);
  } catch (error) {
    const isDamaged = error instanceof StoreError || isDamage(error);
    const message = error instanceof StoreError ? error.message : `${path}: ${String(error)}`;
    return {
      status: 'fail',
      message: plainLine(message),
      fix: isDamaged ? restore : 'check its owner and permissions',
    };
  }
}

function examine(path: string): Finding {
  const database = new DatabaseSync(addressOf(path), { readOnly: true });
  try {
    checkPages(path, database);
    const others = ofOtherReleases(database).reduce((sum, { tasks }) => sum + tasks, 0);
    if (others === 0) return { status: 'pass', message: 'the task store is sound' };
    return {
      status: 'warn',
      message: `${others} tasks were saved by another release and can only be continued by it`,
      fix: 'start that release, and decide or cancel them',
    };
  } finally {
    database.close();
  }
}

/** A store without a write-ahead log is closed, and reading must not create one. */
function addressOf(path: string): URL | string {
  if (existsSync(`${path}-wal`)) return path;
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url;
}
