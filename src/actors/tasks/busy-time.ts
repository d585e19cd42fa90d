import type { SnapshotFrom } from 'xstate';
import type { taskMachine } from '../../machines/task/task-machine.ts';

/**
 * How long the work under way of one live task takes by now. It is counted from when the last effect ended or the wait
 * for a person was over; what the daemon was down for is never among it.
 */
export class BusyTime {
  #since = 0;
  #time = Number.NaN;
  #isWorking = false;

  /** Takes in where the task stands, at a time in epoch milliseconds. */
  see(snapshot: SnapshotFrom<typeof taskMachine>, at: number): void {
    const { spent, waits } = snapshot.context;
    const { time } = spent;
    const isWorking = snapshot.hasTag('working') && !waits;
    if (isWorking === this.#isWorking && time === this.#time) return;
    this.#isWorking = isWorking;
    this.#time = time;
    this.#since = at;
  }

  /** Returns the milliseconds that the work takes at a time; 0 while the task waits. */
  until(at: number): number {
    return this.#isWorking ? Math.max(0, at - this.#since) : 0;
  }
}
