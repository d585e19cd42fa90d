import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { PostgresServer } from '../test/helpers/postgres-server.ts';

/** The task that is parked for real; the others are rows like its own. */
export const firstParked = 'parked-0';

/** Many rows of parked tasks in a store that no daemon uses at the moment. */
export interface ParkedRows {
  /** Bytes of the store. */
  size(): Promise<number>;
  /** Lets the first so many rows fall due, evenly over a span, in epoch milliseconds and milliseconds. */
  bringForward(count: number, first: number, span: number): Promise<void>;
  /** Returns how many still wait for a deadline up to a time, in epoch milliseconds. */
  left(until: number): Promise<number>;
}

/** Copies the one row of a waiting task until there are so many; the copies are parked-1, parked-2 and so on. */
export function fillSqlite(path: string, count: number, first = firstParked): void {
  const columns = columnsOf(first);
  const database = new DatabaseSync(path);
  database.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
    INSERT INTO tasks (${Object.keys(columns).join(', ')})
    SELECT ${Object.values(columns).join(', ')} FROM tasks seed, n WHERE seed.id = '${first}'`);
  database.close();
}

/** The columns of a row but its position, and what each is in a copy of the first one. */
function columnsOf(first: string): Record<string, string> {
  const copied = (column: string) => `replace(${column}, '${first}', 'parked-' || n.i)`;
  return {
    id: copied('id'),
    state: 'state',
    revision: 'revision',
    changed_at: 'changed_at',
    deadline_at: 'deadline_at',
    deferral_id: "deferral_id || '-' || n.i",
    machine_version: 'machine_version',
    audit_seq: 'audit_seq',
    started_call: 'started_call',
    task: `replace(${copied('task')}, deferral_id, deferral_id || '-' || n.i)`,
    snapshot: `replace(${copied('snapshot')}, deferral_id, deferral_id || '-' || n.i)`,
    context_id: 'context_id',
    contents: 'contents',
    owner_org: 'owner_org',
    owner: 'owner',
  };
}

/** The rows of the file of an agent's folder. */
export function inSqlite(directory: string): ParkedRows {
  const path = join(directory, '.service/tasks.db');
  return {
    size: async () => statSync(path).size,
    async bringForward(count, first, span) {
      const database = new DatabaseSync(path);
      database.exec(`
        UPDATE tasks SET deadline_at = due.at,
          task = replace(task, deadline_at, due.at), snapshot = replace(snapshot, deadline_at, due.at)
        FROM (SELECT position AS row, ${first} + position * ${span} / ${count} AS at FROM tasks
          WHERE position BETWEEN 2 AND ${count}) AS due
        WHERE position = due.row`);
      database.close();
    },
    async left(until) {
      const database = new DatabaseSync(path, { readOnly: true });
      const row = database
        .prepare('SELECT count(*) AS left FROM tasks WHERE deadline_at <= ?')
        .get(until);
      database.close();
      return Number(row?.['left']);
    },
  };
}

/** The rows of a database, and the jobs that wake them. */
export function inPostgres(server: PostgresServer, database: string): ParkedRows {
  const query = (sql: string, ...values: unknown[]) => server.query(sql, values, database);
  return {
    async size() {
      const [row] = await query('SELECT pg_database_size($1) AS size', database);
      return Number(row?.['size']);
    },
    async bringForward(count, first, span) {
      await query(`
        WITH due AS (
          UPDATE holdpoint.tasks SET deadline_at = due.at,
            task = replace(task, deadline_at::text, due.at::text),
            snapshot = replace(snapshot, deadline_at::text, due.at::text)
          FROM (SELECT id AS row, ${first} + (row_number() OVER (ORDER BY position)) * ${span} / ${count} AS at
            FROM holdpoint.tasks WHERE deadline_at IS NOT NULL ORDER BY position LIMIT ${count}) AS due
          WHERE id = due.row
          RETURNING id, due.at)
        UPDATE holdpoint_jobs.job SET start_after = to_timestamp(due.at / 1000.0)
        FROM due WHERE name = 'deadlines' AND data->>'task' = due.id`);
    },
    async left(until) {
      const sql = 'SELECT count(*) AS left FROM holdpoint.tasks WHERE deadline_at <= $1';
      const [row] = await query(sql, until);
      return Number(row?.['left']);
    },
  };
}
