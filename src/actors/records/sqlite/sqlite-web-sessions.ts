import type { DatabaseSync } from 'node:sqlite';
import type { WebSession, WebSessions } from '../../ports/web-sessions.ts';

/** Sessions of the page of the daemon. */
export class SqliteWebSessions implements WebSessions {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = {
      add: database.prepare('INSERT INTO web_sessions VALUES (?, ?, ?)'),
      find: database.prepare('SELECT session FROM web_sessions WHERE id = ?'),
      replace: database.prepare('UPDATE web_sessions SET session = ? WHERE id = ?'),
      delete: database.prepare('DELETE FROM web_sessions WHERE id = ?'),
      prune: database.prepare('DELETE FROM web_sessions WHERE expires_at <= ?'),
    };
  }

  async add(id: string, session: WebSession, now: number): Promise<void> {
    this.#sql.prune.run(now);
    this.#sql.add.run(id, session.expiresAt, JSON.stringify(session));
  }

  async find(id: string): Promise<WebSession | undefined> {
    const row = this.#sql.find.get(id);
    // Safe to cast: the column contains only values written by `add`.
    return row === undefined ? undefined : (JSON.parse(String(row['session'])) as WebSession);
  }

  async replace(id: string, session: WebSession): Promise<void> {
    this.#sql.replace.run(JSON.stringify(session), id);
  }

  async delete(id: string): Promise<void> {
    this.#sql.delete.run(id);
  }
}
