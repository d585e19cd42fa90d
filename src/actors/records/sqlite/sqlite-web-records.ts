import type { DatabaseSync } from 'node:sqlite';
import type { WebRecord, WebRecordKind, WebRecords } from '../../ports/web-records.ts';
import { webRecordOf, webRowOf } from '../store/web-rows.ts';

/** Records of the approvals page in SQLite. */
export class SqliteWebRecords implements WebRecords {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = {
      prune: database.prepare('DELETE FROM web_records WHERE expires_at <= ?'),
      put: database.prepare(`INSERT INTO web_records VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (kind, id) DO UPDATE SET expires_at = excluded.expires_at, value = excluded.value
        WHERE owner = excluded.owner`),
      add: database.prepare(
        'INSERT INTO web_records VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
      ),
      change: database.prepare(
        'UPDATE web_records SET expires_at = ?, value = ? WHERE kind = ? AND id = ? AND owner = ?',
      ),
      find: database.prepare('SELECT * FROM web_records WHERE kind = ? AND id = ?'),
      list: database.prepare(
        'SELECT * FROM web_records WHERE kind = ? AND owner = coalesce(?, owner) ORDER BY id',
      ),
      take: database.prepare('DELETE FROM web_records WHERE kind = ? AND id = ? RETURNING *'),
    };
  }

  async put(record: WebRecord, now: number): Promise<boolean> {
    this.#sql.prune.run(now);
    return Number(this.#sql.put.run(...webRowOf(record)).changes) === 1;
  }

  async add(record: WebRecord, now: number): Promise<boolean> {
    this.#sql.prune.run(now);
    return Number(this.#sql.add.run(...webRowOf(record)).changes) === 1;
  }

  async change({ kind, id, owner, expiresAt, value }: WebRecord): Promise<boolean> {
    const row = [expiresAt, JSON.stringify(value), kind, id, owner];
    return Number(this.#sql.change.run(...row).changes) === 1;
  }

  async find(kind: WebRecordKind, id: string): Promise<WebRecord | undefined> {
    return firstOf(this.#sql.find.all(kind, id));
  }

  async list(kind: WebRecordKind, owner?: string): Promise<WebRecord[]> {
    return this.#sql.list.all(kind, owner ?? null).map(webRecordOf);
  }

  async take(kind: WebRecordKind, id: string): Promise<WebRecord | undefined> {
    return firstOf(this.#sql.take.all(kind, id));
  }
}

function firstOf([row]: Parameters<typeof webRecordOf>[0][]): WebRecord | undefined {
  return row === undefined ? undefined : webRecordOf(row);
}
