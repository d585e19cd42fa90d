import type { SharedValue } from '../store/shared-values.ts';
import type { ValuesSql } from '../store/task-row.ts';
import { parameterOf } from './parameter-of.ts';

/** SQL of PostgreSQL for shared values. */
export const valuesSql: ValuesSql = {
  asJson: 'json_object_agg(digest, value)::text',
  place: 'strpos',
};

/** A value of a task as a row of `task_values`. */
interface ValueRow extends SharedValue {
  task_id: string;
}

type Query = (sql: string, values: unknown[]) => Promise<unknown>;

/** Adds values of tasks, or notes that a notice refers to them. */
export async function addValues(query: Query, rows: readonly ValueRow[]): Promise<void> {
  if (rows.length === 0) return;
  // Of two rows of one value the one of a notice counts.
  const asked = rows.toSorted((one, other) => one.is_asked - other.is_asked);
  const each = new Map(asked.map((row) => [`${row.task_id} ${row.digest}`, row]));
  await query(
    `INSERT INTO task_values (task_id, digest, value, is_asked)
      SELECT task_id, digest, value, is_asked FROM json_to_recordset($1::text::json)
        AS x(task_id text, digest text, value text, is_asked integer)
      WHERE EXISTS (SELECT 1 FROM tasks WHERE id = x.task_id)
      ON CONFLICT (task_id, digest) DO UPDATE SET is_asked = 1
        WHERE task_values.is_asked < excluded.is_asked`,
    [parameterOf([...each.values()])],
  );
}

/** Deletes the values of tasks to which neither their rows nor notices refer. */
export async function dropValues(
  query: Query,
  taskIds: readonly string[],
  kept: readonly ValueRow[],
): Promise<void> {
  if (taskIds.length === 0) return;
  await query(
    `DELETE FROM task_values AS v WHERE task_id = ANY($1::text[]) AND is_asked = 0 AND NOT EXISTS (
      SELECT 1 FROM json_to_recordset($2::text::json) AS x(task_id text, digest text)
      WHERE x.task_id = v.task_id AND x.digest = v.digest)`,
    [taskIds, parameterOf(kept.map(({ task_id, digest }) => ({ task_id, digest })))],
  );
}
