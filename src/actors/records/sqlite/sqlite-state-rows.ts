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

  /**
   * Adds states of a task, within the transaction that saves it; returns the number of states that it has entered.
   *
   * @param before the number of states that it had entered
   */
  add(taskId: string, before: number, entered: readonly EnteredState[]): number {
    if (entered.length === 0) return before;
    this.#sql.add.run(taskId, before + 1, entered.length, writeStates(entered));
    const last = before + entered.length;
    if (last > mostStates) this.#sql.trim.run(taskId, last - mostStates + 1);
    return last;
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
    add: sql(
      'INSERT OR REPLACE INTO task_states (task_id, first, entered, states) VALUES (?, ?, ?, ?)',
    ),
    trim: sql(
      'DELETE FROM task_states WHERE task_id = ?1 AND first > 1 AND first + entered - 1 <= ?2',
    ),
    of: sql(`SELECT first, entered, states FROM task_states
      WHERE task_id = ? ORDER BY first`),
    version: sql('SELECT machine_version FROM tasks WHERE id = ?'),
  };
}
