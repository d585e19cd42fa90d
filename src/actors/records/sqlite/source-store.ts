import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { damagedStore, isDamage, StoreError } from '../store/store-error.ts';
import { AuditRows } from './audit-head.ts';
import { checkBuild, isUsable, versionOf } from './database.ts';
import { schemaSteps } from './store-schema.ts';

/** A row as returned by SQLite. */
export type SourceRow = Record<string, SQLOutputValue>;

/**
 * Throws StoreError unless a file is an agent's store of a known version. Read-only.
 *
 * @param mayBeLater accepts a store of a later version that this release can use
 */
export function checkSource(path: string, mayBeLater = false): void {
  if (!existsSync(path)) {
    const cause = Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
    throw new StoreError(`there is no task store ${path}; name its file with --from`, { cause });
  }
  const database = openSource(path);
  try {
    checkBuild(path, database);
    const version = versionOf(database);
    if (mayBeLater ? !isUsable(database) : version > schemaSteps.length) {
      throw new StoreError(
        `${path} has store version ${version}, this version reads ${schemaSteps.length}; copy it with the version that wrote it`,
      );
    }
    if (version === 0 || new AuditRows(database).read() === null) {
      throw new StoreError(`${path} is not the task store of an agent; name its file with --from`);
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (isDamage(error)) throw damagedStore(path, error);
    throw error;
  } finally {
    database.close();
  }
}

/** Opens a store read-only; the caller must close it. */
export function openSource(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true });
}
