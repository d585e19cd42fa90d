import type { AcsSession, AcsSessions } from '../../ports/acs-sessions.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Creates the access to the sessions of the Agent Control Standard in PostgreSQL. */
export function postgresAcsSessions(database: PostgresDatabase): AcsSessions {
  return {
    async find(id) {
      const sql = 'SELECT version, session FROM acs_sessions WHERE id = $1';
      const [row] = await database.query<{ version: number; session: string }>(sql, [id]);
      if (row === undefined) return undefined;
      // Safe to cast: the column contains only values written by `put`.
      return { session: JSON.parse(row.session) as AcsSession, version: row.version };
    },
    async put(id, session, { version, now }) {
      const text = JSON.stringify(session);
      const rows =
        version === 0
          ? await database.query(insert, [id, now, text])
          : await database.query(update, [now, text, id, version]);
      return rows.length === 1;
    },
    async reserve(id, used) {
      return (await database.query(reserve, [id, used])).length === used.length;
    },
    async link(id, call, key) {
      await database.query(link, [id, call, key]);
    },
    async linked(id, call) {
      const sql = 'SELECT key FROM acs_calls WHERE session_id = $1 AND call = $2';
      return (await database.query<{ key: string }>(sql, [id, call]))[0]?.key;
    },
  };
}

const insert = `INSERT INTO acs_sessions (id, version, changed_at, session)
  VALUES ($1, 1, $2, $3) ON CONFLICT DO NOTHING RETURNING id`;

const update = `UPDATE acs_sessions SET version = version + 1, changed_at = $1, session = $2
  WHERE id = $3 AND version = $4 RETURNING id`;

const reserve = `INSERT INTO acs_used SELECT $1, one FROM unnest($2::text[]) AS one
  ON CONFLICT DO NOTHING RETURNING used`;

const link = `INSERT INTO acs_calls VALUES ($1, $2, $3)
  ON CONFLICT (session_id, call) DO UPDATE SET key = $3`;

/** Deletes the sessions without a step since a time in epoch milliseconds, with all that they used. */
export const pruneAcsSessions = `WITH gone AS (
    DELETE FROM acs_sessions WHERE changed_at < $1 RETURNING id
  ), used_gone AS (DELETE FROM acs_used WHERE session_id IN (SELECT id FROM gone))
  DELETE FROM acs_calls WHERE session_id IN (SELECT id FROM gone)`;
