import type { SnapshotFrom } from 'xstate';
import type { taskMachine } from '../../machines/task/task-machine.ts';

/**
 * Measures the current work of a live task, starting when the last effect or approval wait ended; downtime of the
 * daemon is excluded.
 */
export class BusyTime {
  #since = 0;
  #time = Number.NaN;
  #isWorking = false;

  /** Processes a snapshot at a time in epoch milliseconds. */
  see(snapshot: SnapshotFrom<typeof taskMachine>, at: number): void {
    const { spent, waits } = snapshot.context;
    const { time } = spent;
    const isWorking = snapshot.hasTag('working') && !waits;
    if (isWorking === this.#isWorking && time === this.#time) return;
    this.#isWorking = isWorking;
    this.#time = time;
    this.#since = at;
  }

  /** Returns the duration of the current work at a time, in milliseconds; 0 while the task waits. */
  until(at: number): number {
    return this.#isWorking ? Math.max(0, at - this.#since) : 0;
  }
}
