import type { SharedValue } from '../store/shared-values.ts';
import type { ValuesSql } from '../store/task-row.ts';
import type { Statement } from './commit-batch.ts';
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

/** Returns the statement that adds values of tasks, or notes that a notice refers to them. */
export function addValues(rows: readonly ValueRow[]): Statement[] {
  if (rows.length === 0) return [];
  // Of two rows of one value the one of a notice counts.
  const asked = rows.toSorted((one, other) => one.is_asked - other.is_asked);
  const each = new Map(asked.map((row) => [`${row.task_id} ${row.digest}`, row]));
  const text = `INSERT INTO task_values (task_id, digest, value, is_asked)
      SELECT task_id, digest, value, is_asked FROM json_to_recordset($1::text::json)
        AS x(task_id text, digest text, value text, is_asked integer)
      WHERE EXISTS (SELECT 1 FROM tasks WHERE id = x.task_id)
      ON CONFLICT (task_id, digest) DO UPDATE SET is_asked = 1
        WHERE task_values.is_asked < excluded.is_asked`;
  return [{ text, values: [parameterOf([...each.values()])] }];
}

/** Returns the statement that deletes the values of tasks to which neither their rows nor notices refer. */
export function dropValues(taskIds: readonly string[], kept: readonly ValueRow[]): Statement[] {
  if (taskIds.length === 0) return [];
  const text = `DELETE FROM task_values AS v WHERE task_id = ANY($1::text[]) AND is_asked = 0 AND NOT EXISTS (
      SELECT 1 FROM json_to_recordset($2::text::json) AS x(task_id text, digest text)
      WHERE x.task_id = v.task_id AND x.digest = v.digest)`;
  const references = kept.map(({ task_id, digest }) => ({ task_id, digest }));
  return [{ text, values: [taskIds, parameterOf(references)] }];
}
