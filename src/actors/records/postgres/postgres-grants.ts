import type { Grant } from '../../../machines/domain/grant.ts';
import { type Grants, grantee } from '../../ports/grants.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Creates the access to the releases of later calls in PostgreSQL. */
export function postgresGrants(database: PostgresDatabase): Grants {
  return {
    async all(now) {
      const sql = `SELECT terms, uses_left, is_suspended FROM grants
        WHERE until > $1 AND uses_left > 0 ORDER BY id`;
      const rows = await database.query<{ terms: string; uses_left: number; is_suspended: number }>(
        sql,
        [now],
      );
      return rows.map(({ terms, uses_left: usesLeft, is_suspended: suspended }) => ({
        // Safe to cast: the column contains only values written by `put`.
        ...(JSON.parse(terms) as Grant),
        usesLeft,
        ...(suspended === 1 ? { isSuspended: true } : {}),
      }));
    },
    async put(grant) {
      const { id, tool, requester, until, usesLeft } = grant;
      await database.query('INSERT INTO grants VALUES ($1, $2, $3, $4, $5, 0, $6)', [
        ...[id, tool, grantee(requester), until, usesLeft, JSON.stringify(grant)],
      ]);
    },
    async use(id, now) {
      const sql = `UPDATE grants SET uses_left = uses_left - 1
        WHERE id = $1 AND until > $2 AND uses_left > 0 AND is_suspended = 0 RETURNING uses_left`;
      const [row] = await database.query<{ uses_left: number }>(sql, [id, now]);
      return row?.uses_left ?? null;
    },
    async suspend(tool, requester) {
      const sql = `UPDATE grants SET is_suspended = 1
        WHERE tool = $1 AND requester = $2 AND is_suspended = 0 RETURNING id`;
      const rows = await database.query<{ id: string }>(sql, [tool, requester]);
      return rows.map(({ id }) => id);
    },
    async delete(id) {
      return (
        (await database.query('DELETE FROM grants WHERE id = $1 RETURNING id', [id])).length === 1
      );
    },
  };
}
