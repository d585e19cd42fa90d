import type { WebSession, WebSessions } from '../../ports/web-sessions.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Creates the access to the sessions of the page of the daemon in PostgreSQL. */
export function postgresWebSessions(database: PostgresDatabase): WebSessions {
  return {
    async add(id, session, now) {
      await database.query('DELETE FROM web_sessions WHERE expires_at <= $1', [now]);
      const row = [id, session.expiresAt, JSON.stringify(session)];
      await database.query('INSERT INTO web_sessions VALUES ($1, $2, $3)', row);
    },
    async find(id) {
      const sql = 'SELECT session FROM web_sessions WHERE id = $1';
      const [row] = await database.query<{ session: string }>(sql, [id]);
      // Safe to cast: the column contains only values written by `add`.
      return row === undefined ? undefined : (JSON.parse(row.session) as WebSession);
    },
    async replace(id, session) {
      const sql = 'UPDATE web_sessions SET session = $1 WHERE id = $2';
      await database.query(sql, [JSON.stringify(session), id]);
    },
    async delete(id) {
      await database.query('DELETE FROM web_sessions WHERE id = $1', [id]);
    },
  };
}
