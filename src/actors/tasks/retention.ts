import { type Every, everyInterval } from '../every.ts';
import type { Clock, Log } from '../ports.ts';
import type { TaskStore } from '../records/records.ts';

/** How often expired tasks are looked for, in milliseconds. */
const lookEvery = 600_000;

/** What deleting expired tasks needs. */
export interface RetentionPorts {
  store: TaskStore;
  /** How long a final task is kept, in milliseconds. */
  retention: number;
  clock: Clock;
  /** The time of this machine when absent. */
  every?: Every;
  log: Log;
}

/** Deletes final tasks that are older than the retention. */
export class Retention {
  readonly #ports: RetentionPorts;
  #stopLooking: () => void = () => undefined;
  #isStopped = false;

  constructor(ports: RetentionPorts) {
    this.#ports = ports;
  }

  /** Deletes what has expired now, and from now on every ten minutes. */
  start(): void {
    void this.deleteExpired();
    const { every = everyInterval } = this.#ports;
    this.#stopLooking = every(lookEvery, () => void this.deleteExpired());
  }

  /** Deletes what has expired, some tasks in each turn of the event loop. */
  async deleteExpired(): Promise<void> {
    const { store, clock, retention, log } = this.#ports;
    if (this.#isStopped) return;
    try {
      const deleted = await store.deleteEnded(clock.now() - retention);
      if (deleted > 0) setImmediate(() => void this.deleteExpired());
    } catch (error) {
      log.error({ error }, 'tasks: expired ones stay for now');
    }
  }

  /** Deletes nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#stopLooking();
  }
}
