import type { DatabaseSync } from 'node:sqlite';
import type { ReleaseRows } from '../store/release-rows.ts';

/** The release of the agent runtime that introduced each version of the task chart, as seen by this store. */
export class SqliteReleaseRows implements ReleaseRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = {
      find: database.prepare('SELECT release FROM machine_releases WHERE machine_version = ?'),
      keep: database.prepare('INSERT OR REPLACE INTO machine_releases VALUES (?, ?)'),
    };
  }

  /** Returns the release that last used a version of the chart here; `null` if unknown. */
  async find(machineVersion: number): Promise<string | null> {
    const row = this.#sql.find.get(machineVersion);
    return row === undefined ? null : String(row['release']);
  }

  /** Stores the release that uses a version of the chart. */
  async keep(machineVersion: number, release: string): Promise<void> {
    if ((await this.find(machineVersion)) !== release) this.#sql.keep.run(machineVersion, release);
  }
}
