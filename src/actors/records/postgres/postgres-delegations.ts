import type { Delegation, Delegations } from '../../ports/delegations.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Creates the access to the delegations that people made, in PostgreSQL. */
export function postgresDelegations(database: PostgresDatabase): Delegations {
  return {
    async all(now) {
      return database.query<Delegation>(
        `SELECT id, giver AS "from", taker AS "to", since::float8 AS since, until::float8 AS until
          FROM delegations WHERE until > $1 ORDER BY since, id`,
        [now],
      );
    },
    async put({ id, since, until, from, to }) {
      const sql =
        'INSERT INTO delegations (id, since, until, giver, taker) VALUES ($1, $2, $3, $4, $5)';
      await database.query('DELETE FROM delegations WHERE until <= $1', [since]);
      await database.query(sql, [id, since, until, from, to]);
    },
    async delete(id) {
      const sql = 'DELETE FROM delegations WHERE id = $1 RETURNING id';
      return (await database.query(sql, [id])).length === 1;
    },
  };
}
