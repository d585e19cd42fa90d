import type { DatabaseSync } from 'node:sqlite';
import type { ReleaseRows } from '../store/release-rows.ts';

/** Which release of the agent runtime brought which version of the task chart, as far as this store has seen them. */
export class SqliteReleaseRows implements ReleaseRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    database.exec(`CREATE TABLE IF NOT EXISTS machine_releases (
      machine_version INTEGER PRIMARY KEY,
      release TEXT NOT NULL
    )`);
    this.#sql = {
      find: database.prepare('SELECT release FROM machine_releases WHERE machine_version = ?'),
      keep: database.prepare('INSERT OR REPLACE INTO machine_releases VALUES (?, ?)'),
    };
  }

  /** Returns the release that last ran a version of the chart here; `null` when none is known. */
  async find(machineVersion: number): Promise<string | null> {
    const row = this.#sql.find.get(machineVersion);
    return row === undefined ? null : String(row['release']);
  }

  /** Keeps which release runs a version of the chart. */
  async keep(machineVersion: number, release: string): Promise<void> {
    if ((await this.find(machineVersion)) !== release) this.#sql.keep.run(machineVersion, release);
  }
}
