import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { checkBuild, isUsable, versionOf } from './database.ts';
import { ofOtherReleases } from './sqlite-task-rows.ts';
import { readableFrom, schemaSteps } from './store-schema.ts';

/** The compatibility of a store with this release. */
export interface StoreStanding {
  version: number;
  /** False if only later releases can use the store. */
  isUsable: boolean;
  /** Version after the next start of this release. */
  nextVersion: number;
  /** True if the release of the store can still use it after that start. */
  isReversible: boolean;
  /** Number of unfinished tasks that only another release can continue. */
  others: number;
  /** Number of calls that wait for a decision. */
  waiting: number;
}

/**
 * Returns the compatibility of a store with this release; `null` if there is none. Reads only. Throws StoreError for a store
 * of a build before the first version.
 */
export function storeStanding(path: string): StoreStanding | null {
  if (!existsSync(path)) return null;
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    checkBuild(path, database);
    const count = "SELECT count(*) AS tasks FROM tasks WHERE state = 'deferred'";
    const version = versionOf(database);
    return {
      version,
      isUsable: isUsable(database),
      nextVersion: Math.max(version, schemaSteps.length),
      isReversible: version >= readableFrom,
      others: ofOtherReleases(database).reduce((sum, { tasks }) => sum + tasks, 0),
      waiting: Number(database.prepare(count).get()?.['tasks']),
    };
  } finally {
    database.close();
  }
}
