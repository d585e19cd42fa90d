import type { DatabaseSync } from 'node:sqlite';
import type { DecidedCall, Task } from '../../../machines/domain/task.ts';
import { askingsOf, endedOf } from '../store/approval-askings.ts';
import type { SharedValue, SharedValues } from '../store/shared-values.ts';
import type { TaskColumns, ValuesSql } from '../store/task-row.ts';

/** The columns of a task's row that decide which rows of other tables change with it. */
export type PartColumns = Pick<TaskColumns, 'deferral_id' | 'approvers' | 'has_values'>;

/** SQL of SQLite for shared values. */
export const valuesSql: ValuesSql = { asJson: 'json_group_object(digest, value)', place: 'instr' };

/** The place of a task's row, and the writer of its shared values; `null` for a row without. */
interface WrittenRow {
  position: number;
  shared: SharedValues | null;
}

/** A task that is deleted. */
interface GoneTask {
  position: number;
  id: string;
}

/** Rows of tasks in other tables, written in the transaction that writes the tasks. A task that never waits has none. */
export class TaskParts {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Writes the rows of a task; `before` are its columns before this change, `null` for a new task. */
  put(
    task: Task,
    { position, shared }: WrittenRow,
    before: PartColumns | null,
    now: PartColumns,
  ): void {
    if (now.approvers !== (before?.approvers ?? null)) {
      if (before !== null && before.approvers !== null) this.#sql.dropApprovers.run(position);
      if (now.approvers !== null) this.#sql.addApprovers.run(now.approvers, position);
    }
    const waited = before?.deferral_id ?? null;
    if (waited !== null && waited !== now.deferral_id) this.#sql.end.run(waited, endedOf(task));
    // An equal notice stays as it is.
    for (const asking of askingsOf(task, shared)) {
      const { task_id, deferral_id, adapter, target, asked, requested_at, expires_at } = asking;
      this.#sql.ask.run(task_id, deferral_id, adapter, target, asked, requested_at, expires_at);
    }
    if (now.has_values + (before?.has_values ?? 0) > 0)
      this.#putValues(task.id, shared?.values ?? []);
  }

  #putValues(taskId: string, values: readonly SharedValue[]): void {
    for (const { digest, value, is_asked } of values) {
      this.#sql.addValue.run(taskId, digest, value, is_asked);
    }
    this.#sql.dropValues.run(taskId, JSON.stringify(values.map(({ digest }) => digest)));
  }

  /** Adds the outcomes of approved calls to their notices. */
  addOutcomes(decided: readonly DecidedCall[]): void {
    for (const { id, outcome } of decided) this.#sql.addOutcome.run(id, JSON.stringify(outcome));
  }

  /** Deletes the rows of deleted tasks. */
  delete(gone: readonly GoneTask[]): void {
    this.#sql.deleteApprovers.run(JSON.stringify(gone.map(({ position }) => position)));
    const ids = JSON.stringify(gone.map(({ id }) => id));
    for (const statement of this.#sql.deleteParts) statement.run(ids);
  }
}

/** Adds a value of a task, or notes that a notice refers to it. */
export const addValue = `INSERT INTO task_values (task_id, digest, value, is_asked) VALUES (?, ?, ?, ?)
  ON CONFLICT (task_id, digest) DO UPDATE SET is_asked = 1 WHERE is_asked < excluded.is_asked`;

const partTables = [
  'task_values',
  'sent_messages',
  'task_states',
  'push_targets',
  'approval_notices',
];

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    addApprovers: sql('INSERT OR IGNORE INTO task_approvers SELECT value, ?2 FROM json_each(?1)'),
    dropApprovers: sql('DELETE FROM task_approvers WHERE position = ?'),
    addValue: sql(addValue),
    dropValues: sql(`DELETE FROM task_values WHERE task_id = ? AND is_asked = 0
      AND digest NOT IN (SELECT value FROM json_each(?))`),
    // A wait that ended before any notice was sent needs no message.
    end: sql(`UPDATE approval_notices SET version = version + 1, due = is_posted,
      is_closed = NOT is_posted, ended = ?2 WHERE deferral_id = ?1 AND ended IS NULL`),
    ask: sql(`INSERT INTO approval_notices
        (task_id, deferral_id, adapter, target, asked, requested_at, expires_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (deferral_id, target) DO UPDATE SET asked = excluded.asked,
        expires_at = excluded.expires_at, version = version + 1, due = NOT is_closed
      WHERE asked <> excluded.asked`),
    addOutcome: sql(`UPDATE approval_notices SET ended = json_set(ended, '$.outcome', json(?2)),
      version = version + 1, due = is_posted, is_closed = NOT is_posted
      WHERE deferral_id = ?1 AND ended IS NOT NULL`),
    deleteApprovers: sql(
      'DELETE FROM task_approvers WHERE position IN (SELECT value FROM json_each(?))',
    ),
    deleteParts: partTables.map((table) =>
      sql(`DELETE FROM ${table} WHERE task_id IN (SELECT value FROM json_each(?))`),
    ),
  };
}
