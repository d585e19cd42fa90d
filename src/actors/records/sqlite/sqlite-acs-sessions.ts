import type { DatabaseSync } from 'node:sqlite';
import type { AcsSession, AcsSessions } from '../../ports/acs-sessions.ts';

/** Sessions of the Agent Control Standard; what a session used and linked is deleted with it. */
export class SqliteAcsSessions implements AcsSessions {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  async find(id: string): Promise<{ session: AcsSession; version: number } | undefined> {
    const row = this.#sql.find.get(id);
    if (row === undefined) return undefined;
    // Safe to cast: the column contains only values written by `put`.
    const session = JSON.parse(String(row['session'])) as AcsSession;
    return { session, version: Number(row['version']) };
  }

  async put(
    id: string,
    session: AcsSession,
    { version, now }: { version: number; now: number },
  ): Promise<boolean> {
    const text = JSON.stringify(session);
    const { changes } =
      version === 0
        ? this.#sql.insert.run(id, now, text)
        : this.#sql.update.run(now, text, id, version);
    return Number(changes) === 1;
  }

  async reserve(id: string, used: readonly string[]): Promise<boolean> {
    return used.every((one) => Number(this.#sql.reserve.run(id, one).changes) === 1);
  }

  async link(id: string, call: string, key: string): Promise<void> {
    this.#sql.link.run(id, call, key);
  }

  async linked(id: string, call: string): Promise<string | undefined> {
    const row = this.#sql.linked.get(id, call);
    return row === undefined ? undefined : String(row['key']);
  }

  /** Deletes sessions without a step since a time in epoch milliseconds. */
  prune(before: number): void {
    this.#sql.prune.run(before);
  }
}

function prepare(database: DatabaseSync) {
  return {
    find: database.prepare('SELECT version, session FROM acs_sessions WHERE id = ?'),
    insert: database.prepare(`INSERT INTO acs_sessions (id, version, changed_at, session)
      VALUES (?, 1, ?, ?) ON CONFLICT DO NOTHING`),
    update: database.prepare(`UPDATE acs_sessions
      SET version = version + 1, changed_at = ?, session = ? WHERE id = ? AND version = ?`),
    reserve: database.prepare('INSERT INTO acs_used VALUES (?, ?) ON CONFLICT DO NOTHING'),
    link: database.prepare(`INSERT INTO acs_calls VALUES (?1, ?2, ?3)
      ON CONFLICT (session_id, call) DO UPDATE SET key = ?3`),
    linked: database.prepare('SELECT key FROM acs_calls WHERE session_id = ? AND call = ?'),
    prune: database.prepare('DELETE FROM acs_sessions WHERE changed_at < ?'),
  };
}
