import type { WebRecord, WebRecords } from '../../ports/web-records.ts';
import { webRecordOf, webRowOf } from '../store/web-rows.ts';
import type { PostgresDatabase } from './postgres-database.ts';

/** Creates the access to the records of the approvals page in PostgreSQL. */
export function postgresWebRecords(database: PostgresDatabase): WebRecords {
  const rows = async (sql: string, values: unknown[]): Promise<WebRecord[]> =>
    (await database.query<Record<string, unknown>>(sql, values)).map(webRecordOf);
  const prune = (now: number) =>
    database.query('DELETE FROM web_records WHERE expires_at <= $1', [now]);
  return {
    async put(record, now) {
      await prune(now);
      const sql = `INSERT INTO web_records VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (kind, id) DO UPDATE SET expires_at = excluded.expires_at, value = excluded.value
        WHERE web_records.owner = excluded.owner RETURNING *`;
      return (await rows(sql, [...webRowOf(record)])).length === 1;
    },
    async add(record, now) {
      await prune(now);
      const sql =
        'INSERT INTO web_records VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING RETURNING *';
      return (await rows(sql, [...webRowOf(record)])).length === 1;
    },
    async change(record) {
      const sql = `UPDATE web_records SET expires_at = $4, value = $5
        WHERE kind = $1 AND id = $2 AND owner = $3 RETURNING *`;
      return (await rows(sql, [...webRowOf(record)])).length === 1;
    },
    async find(kind, id) {
      return (await rows('SELECT * FROM web_records WHERE kind = $1 AND id = $2', [kind, id]))[0];
    },
    list(kind, owner) {
      const sql = `SELECT * FROM web_records
        WHERE kind = $1 AND owner = coalesce($2, owner) ORDER BY id COLLATE "C"`;
      return rows(sql, [kind, owner ?? null]);
    },
    async take(kind, id) {
      const sql = 'DELETE FROM web_records WHERE kind = $1 AND id = $2 RETURNING *';
      return (await rows(sql, [kind, id]))[0];
    },
  };
}
