import { DatabaseSync } from 'node:sqlite';

/** The mark of a store that was restored from a backup and has not been opened since. */
export interface RestoredMark {
  /** Time of the backup in epoch milliseconds. */
  backupAt: number;
  /** True if the log next to the store is the one of the backup, so that later lines are unknown. */
  hasOldLog: boolean;
  /** Name of the key that signed the backup; `null` if its signature was not checked. */
  signedBy: string | null;
}

/** The table of the mark. */
export const restoredTable = `CREATE TABLE IF NOT EXISTS restored (
  backup_at INTEGER NOT NULL,
  has_old_log INTEGER NOT NULL,
  signed_by TEXT
)`;

/** Marks a store that no daemon uses as restored. */
export function markRestored(path: string, { backupAt, hasOldLog, signedBy }: RestoredMark): void {
  const database = new DatabaseSync(path);
  try {
    database.exec(`${restoredTable}; DELETE FROM restored`);
    const insert = database.prepare('INSERT INTO restored VALUES (?, ?, ?)');
    insert.run(backupAt, hasOldLog ? 1 : 0, signedBy);
  } finally {
    database.close();
  }
}

/** Returns the mark of a store; `null` for none. */
export function restoredMark(database: DatabaseSync): RestoredMark | null {
  const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'restored'").get();
  if (made === undefined) return null;
  const row = database.prepare('SELECT * FROM restored').get();
  if (row === undefined) return null;
  const { backup_at: backupAt, has_old_log: hasOldLog, signed_by: signedBy } = row;
  return {
    backupAt: Number(backupAt),
    hasOldLog: hasOldLog === 1,
    signedBy: typeof signedBy === 'string' ? signedBy : null,
  };
}

/** Returns whether the log next to a store is the one of a backup; false for a store that cannot be read. */
export function hasLogOfBackup(path: string): boolean {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return restoredMark(database)?.hasOldLog === true;
    } finally {
      database.close();
    }
  } catch {
    return false;
  }
}
