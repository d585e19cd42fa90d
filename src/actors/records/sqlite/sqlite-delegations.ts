import type { DatabaseSync } from 'node:sqlite';
import type { Delegation, Delegations } from '../../ports/delegations.ts';

/** The delegations that people made, in SQLite. */
export class SqliteDelegations implements Delegations {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  async all(now: number): Promise<Delegation[]> {
    return this.#sql.all.all(now).map((row) => ({
      ...{ id: String(row['id']), from: String(row['giver']), to: String(row['taker']) },
      ...{ since: Number(row['since']), until: Number(row['until']) },
    }));
  }

  async put({ id, since, until, from, to }: Delegation): Promise<void> {
    this.#sql.prune.run(since);
    this.#sql.put.run(id, since, until, from, to);
  }

  async delete(id: string): Promise<boolean> {
    return Number(this.#sql.delete.run(id).changes) === 1;
  }
}

function prepare(database: DatabaseSync) {
  return {
    all: database.prepare('SELECT * FROM delegations WHERE until > ? ORDER BY since, id'),
    put: database.prepare('INSERT INTO delegations VALUES (?, ?, ?, ?, ?)'),
    prune: database.prepare('DELETE FROM delegations WHERE until <= ?'),
    delete: database.prepare('DELETE FROM delegations WHERE id = ?'),
  };
}
