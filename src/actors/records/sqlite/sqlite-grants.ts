import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Grant } from '../../../machines/domain/grant.ts';
import { type Grants, grantee } from '../../ports/grants.ts';

/** The releases of later calls, in SQLite. */
export class SqliteGrants implements Grants {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  async all(now: number): Promise<Grant[]> {
    return this.#sql.all.all(now).map(grantOf);
  }

  async usable(tool: string, requester: string, now: number): Promise<Grant[]> {
    return this.#sql.usable.all(tool, requester, now).map(grantOf);
  }

  async put(grant: Grant): Promise<void> {
    const { id, tool, requester, since, until, usesLeft } = grant;
    this.#sql.prune.run(since);
    this.#sql.put.run(id, tool, grantee(requester), until, usesLeft, JSON.stringify(grant));
  }

  async use(id: string, now: number): Promise<number | null> {
    const row = this.#sql.use.get(id, now);
    return row === undefined ? null : Number(row['uses_left']);
  }

  async giveBack(id: string): Promise<void> {
    this.#sql.giveBack.run(id);
  }

  async suspend(tool: string, requester: string): Promise<Grant[]> {
    return this.#sql.suspend.all(tool, requester).map(grantOf);
  }

  async delete(id: string): Promise<boolean> {
    return Number(this.#sql.delete.run(id).changes) === 1;
  }
}

function grantOf(row: Record<string, SQLOutputValue>): Grant {
  return {
    // Safe to cast: the column contains only values written by `put`.
    ...(JSON.parse(String(row['terms'])) as Grant),
    usesLeft: Number(row['uses_left']),
    ...(row['is_suspended'] === 1 ? { isSuspended: true } : {}),
  };
}

function prepare(database: DatabaseSync) {
  return {
    all: database.prepare('SELECT * FROM grants WHERE until > ? AND uses_left > 0 ORDER BY id'),
    put: database.prepare('INSERT INTO grants VALUES (?, ?, ?, ?, ?, 0, ?)'),
    use: database.prepare(`UPDATE grants SET uses_left = uses_left - 1
      WHERE id = ? AND until > ? AND uses_left > 0 AND is_suspended = 0 RETURNING uses_left`),
    giveBack: database.prepare('UPDATE grants SET uses_left = uses_left + 1 WHERE id = ?'),
    suspend: database.prepare(`UPDATE grants SET is_suspended = 1
      WHERE tool = ? AND requester = ? AND uses_left > 0 AND is_suspended = 0 RETURNING *`),
    usable: database.prepare(`SELECT * FROM grants WHERE tool = ? AND requester = ?
      AND until > ? AND uses_left > 0 AND is_suspended = 0 ORDER BY id`),
    prune: database.prepare('DELETE FROM grants WHERE until <= ?'),
    delete: database.prepare('DELETE FROM grants WHERE id = ?'),
  };
}
