import type { Grant } from '../../../machines/domain/grant.ts';
import { type Grants, grantee } from '../../ports/grants.ts';
import type { PostgresDatabase } from './postgres-database.ts';

interface GrantRow {
  terms: string;
  uses_left: number;
  is_suspended: number;
}

function grantOf({ terms, uses_left: usesLeft, is_suspended: suspended }: GrantRow): Grant {
  return {
    // Safe to cast: the column contains only values written by `put`.
    ...(JSON.parse(terms) as Grant),
    usesLeft,
    ...(suspended === 1 ? { isSuspended: true } : {}),
  };
}

/** Creates the access to the releases of later calls in PostgreSQL. */
export function postgresGrants(database: PostgresDatabase): Grants {
  return {
    async all(now) {
      const sql = `SELECT terms, uses_left, is_suspended FROM grants
        WHERE until > $1 AND uses_left > 0 ORDER BY id`;
      return (await database.query<GrantRow>(sql, [now])).map(grantOf);
    },
    async usable(tool, requester, now) {
      const sql = `SELECT terms, uses_left, is_suspended FROM grants WHERE tool = $1
        AND requester = $2 AND until > $3 AND uses_left > 0 AND is_suspended = 0 ORDER BY id`;
      return (await database.query<GrantRow>(sql, [tool, requester, now])).map(grantOf);
    },
    async put(grant) {
      const { id, tool, requester, since, until, usesLeft } = grant;
      await database.query('DELETE FROM grants WHERE until <= $1', [since]);
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
    async giveBack(id) {
      await database.query('UPDATE grants SET uses_left = uses_left + 1 WHERE id = $1', [id]);
    },
    async suspend(tool, requester) {
      const sql = `UPDATE grants SET is_suspended = 1
        WHERE tool = $1 AND requester = $2 AND uses_left > 0 AND is_suspended = 0
        RETURNING terms, uses_left, is_suspended`;
      return (await database.query<GrantRow>(sql, [tool, requester])).map(grantOf);
    },
    async delete(id) {
      return (
        (await database.query('DELETE FROM grants WHERE id = $1 RETURNING id', [id])).length === 1
      );
    },
  };
}
