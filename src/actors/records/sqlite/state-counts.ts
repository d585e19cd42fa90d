import type { DatabaseSync } from 'node:sqlite';
import type { TaskState } from '../../../machines/domain/task.ts';

type Counts = Partial<Record<TaskState, number>>;

/**
 * Counts the tasks of a store by state. The first count reads every task; from then on the changes of this process, the
 * only one that writes, keep the counts.
 */
export class StateCounts {
  readonly #database: DatabaseSync;
  #counts: Counts | null = null;
  /** The moves of the open transaction. */
  #open: [from: TaskState | null, to: TaskState | null][] = [];

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Returns the number of tasks by state; states without tasks are omitted. Never called within a transaction. */
  now(): Counts {
    this.#counts ??= this.#read();
    return Object.fromEntries(Object.entries(this.#counts).filter(([, tasks]) => tasks > 0));
  }

  /** Moves a task from one state to another; `null` stands for no task. */
  move(from: TaskState | null, to: TaskState | null): void {
    if (this.#counts !== null && from !== to) this.#open.push([from, to]);
  }

  /** Counts the moves of the committed transaction. */
  commit(): void {
    const counts = this.#counts ?? {};
    for (const [from, to] of this.#open) {
      if (from !== null) counts[from] = (counts[from] ?? 0) - 1;
      if (to !== null) counts[to] = (counts[to] ?? 0) + 1;
    }
    this.#open = [];
  }

  /** Drops the moves of the transaction. */
  rollBack(): void {
    this.#open = [];
  }

  #read(): Counts {
    const sql = 'SELECT state, count(*) AS tasks FROM tasks GROUP BY state';
    const rows = this.#database.prepare(sql).all();
    return Object.fromEntries(rows.map(({ state, tasks }) => [String(state), Number(tasks)]));
  }
}
