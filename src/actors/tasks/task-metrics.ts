import type { TaskState } from '../../machines/domain/task.ts';
import type { TaskRows } from '../records/records.ts';
import type { Measured } from './run-measures.ts';

export interface TaskMetricsPorts {
  rows: TaskRows;
  /** True if other daemons write to the same store. */
  isShared: boolean;
  /** Returns the number of tasks with an actor. */
  live: () => number;
}

/** Counts tasks, without any data that identifies their owners. */
export class TaskMetrics {
  readonly #ports: TaskMetricsPorts;
  readonly #hearing: ((measured: Measured) => void)[] = [];
  #hasStrangers = true;

  constructor(ports: TaskMetricsPorts) {
    this.#ports = ports;
  }

  /** Returns the number of tasks with an actor, and of tasks that wait for a decision. */
  async load(): Promise<{ live: number; deferred: number }> {
    const { rows, live } = this.#ports;
    return { live: live(), deferred: await rows.count('deferred') };
  }

  /** Counts tasks by state; states without tasks are omitted. */
  census(): Promise<Partial<Record<TaskState, number>>> {
    return this.#ports.rows.countByState();
  }

  /** Returns the number of unfinished tasks that only another release can resume. */
  async strangers(): Promise<number> {
    // Without other writers, the number stays zero once it is zero.
    if (!this.#hasStrangers && !this.#ports.isShared) return 0;
    const strangers = await this.#ports.rows.strangers();
    const found = strangers.reduce((sum, { tasks }) => sum + tasks, 0);
    this.#hasStrangers = found > 0;
    return found;
  }

  /** Subscribes to measurements of tool calls and waits; the listener must not throw. */
  onMeasured(hear: (measured: Measured) => void): void {
    this.#hearing.push(hear);
  }

  /** Reports a finished tool call or wait to all listeners. */
  measured(measured: Measured): void {
    for (const hear of this.#hearing) hear(measured);
  }
}
