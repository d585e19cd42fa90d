import type { TaskState } from '../../machines/task/task.ts';
import type { TaskRows } from '../records/records.ts';
import type { Measured } from './run-measures.ts';

/** What tasks are counted from. */
export interface TaskMetricsPorts {
  rows: TaskRows;
  /** True when other daemons write to the same store. */
  isShared: boolean;
  /** How many tasks have an actor. */
  live: () => number;
}

/** Counts tasks, and nothing of a task that tells whose it is. */
export class TaskMetrics {
  readonly #ports: TaskMetricsPorts;
  readonly #hearing: ((measured: Measured) => void)[] = [];
  #hasStrangers = true;

  constructor(ports: TaskMetricsPorts) {
    this.#ports = ports;
  }

  /** Tasks with an actor, and tasks that wait for a decision. */
  async load(): Promise<{ live: number; deferred: number }> {
    const { rows, live } = this.#ports;
    return { live: live(), deferred: await rows.count('deferred') };
  }

  /** How many tasks there are in each state that has any. */
  census(): Promise<Partial<Record<TaskState, number>>> {
    return this.#ports.rows.countByState();
  }

  /** How many tasks have not ended and can be gone on with by another release alone. */
  async strangers(): Promise<number> {
    // Where nobody else writes to the store, they never come back once there are none.
    if (!this.#hasStrangers && !this.#ports.isShared) return 0;
    const strangers = await this.#ports.rows.strangers();
    const found = strangers.reduce((sum, { tasks }) => sum + tasks, 0);
    this.#hasStrangers = found > 0;
    return found;
  }

  /** Has somebody hear of every tool call and every wait that ends, from now on; must not throw. */
  onMeasured(hear: (measured: Measured) => void): void {
    this.#hearing.push(hear);
  }

  /** Tells everybody who hears of it that a tool call or a wait has ended. */
  measured(measured: Measured): void {
    for (const hear of this.#hearing) hear(measured);
  }
}
