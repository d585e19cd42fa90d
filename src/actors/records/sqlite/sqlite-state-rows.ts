import type { DatabaseSync } from 'node:sqlite';
import type { EnteredState, StateHistory } from '../../../machines/task/entered-state.ts';
import { historyOf, mostStates, writeStates } from '../store/kept-states.ts';
import type { StateRows } from '../store/task-rows.ts';

/**
 * Chart states that tasks have entered, with time and event. A row contains the states added by one commit; its number
 * is that of its first state, from 1. Rows are deleted with their task.
 */
export class SqliteStateRows implements StateRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Adds states of a task, within the transaction that saves it. */
  add(taskId: string, entered: readonly EnteredState[]): void {
    const row = this.#sql.add.get(taskId, entered.length, writeStates(entered));
    const last = Number(row?.['first']) + entered.length - 1;
    if (last > mostStates) this.#sql.trim.run(taskId, last - mostStates + 1);
  }

  /** Returns the states that a task has entered, oldest first. */
  async of(taskId: string): Promise<StateHistory> {
    const rows = this.#sql.of.all(taskId).map((row) => ({
      first: Number(row['first']),
      entered: Number(row['entered']),
      states: String(row['states']),
    }));
    const version = Number(this.#sql.version.get(taskId)?.['machine_version'] ?? 0);
    return historyOf(rows, version);
  }
}

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    add: sql(`INSERT INTO task_states (task_id, first, entered, states)
      VALUES (?1, coalesce((SELECT first + entered FROM task_states WHERE task_id = ?1
        ORDER BY first DESC LIMIT 1), 1), ?2, ?3) RETURNING first`),
    trim: sql(
      'DELETE FROM task_states WHERE task_id = ?1 AND first > 1 AND first + entered - 1 <= ?2',
    ),
    of: sql(`SELECT first, entered, states FROM task_states
      WHERE task_id = ? ORDER BY first`),
    version: sql('SELECT machine_version FROM tasks WHERE id = ?'),
  };
}
