import type { DatabaseSync } from 'node:sqlite';
import type { EnteredState, StateHistory } from '../../../machines/task/entered-state.ts';

/** Most states kept of one task: the first one, and the latest. */
const mostStates = 500;

/** A state as a row has it, which names nothing twice. */
type KeptState = [state: string, event: string, at: number];

/**
 * Which states of their chart tasks have entered, when, and why. A row holds what one commit added; its number is that
 * of its first state, counted from 1. The rows of a task go with it.
 */
export class StateRows {
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#sql = prepare(database);
  }

  /** Adds states to those of a task, within the transaction that saves it. */
  add(taskId: string, entered: readonly EnteredState[]): void {
    const states = entered.map(({ state, event, at }): KeptState => [state, event, at]);
    const row = this.#sql.add.get(taskId, states.length, JSON.stringify(states));
    const last = Number(row?.['first']) + states.length - 1;
    if (last > mostStates) this.#sql.trim.run(taskId, last - mostStates + 1);
  }

  /** Returns the states that a task has entered, oldest first; none for one that an earlier version saved. */
  of(taskId: string): StateHistory {
    const rows = this.#sql.of.all(taskId);
    const last = rows.reduce((most, row) => Math.max(most, Number(row['last'])), 0);
    const leftOut = Math.max(0, last - mostStates);
    const states = rows.flatMap((row) =>
      (JSON.parse(String(row['states'])) as KeptState[])
        .map(([state, event, at]) => ({ state, event, at }))
        .filter((_, index) => {
          const number = Number(row['first']) + index;
          return number === 1 || number > leftOut + 1;
        }),
    );
    const version = Number(this.#sql.version.get(taskId)?.['machine_version'] ?? 0);
    return { states, leftOut, version };
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
    of: sql(`SELECT first, first + entered - 1 AS last, states FROM task_states
      WHERE task_id = ? ORDER BY first`),
    version: sql('SELECT machine_version FROM tasks WHERE id = ?'),
  };
}
