import { type Every, everyInterval } from '../every.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { TaskStore } from '../records/records.ts';

/** Interval at which expired tasks are deleted, in milliseconds. */
const lookEvery = 600_000;

export interface RetentionPorts {
  store: TaskStore;
  /** Retention time of final tasks, in milliseconds. */
  retention: number;
  clock: Clock;
  /** This machine's timers when absent. */
  every?: Every;
  log: Log;
}

/** Deletes final tasks that are older than the retention time, and calls that count for no limit any more. */
export class Retention {
  readonly #ports: RetentionPorts;
  #stopLooking: () => void = () => undefined;
  #isStopped = false;

  constructor(ports: RetentionPorts) {
    this.#ports = ports;
  }

  /** Deletes expired tasks now and every ten minutes, and recovers calls that the ledger alone has as running. */
  start(): void {
    void this.#recover();
    void this.deleteExpired();
    const { every = everyInterval } = this.#ports;
    this.#stopLooking = every(lookEvery, () => void this.deleteExpired());
  }

  /** Looks through the ledger in steps, one for each event-loop turn. */
  async #recover(): Promise<void> {
    const { store, clock, log } = this.#ports;
    if (this.#isStopped) return;
    try {
      if (await store.ledger.recover(clock.now())) setImmediate(() => void this.#recover());
    } catch (error) {
      log.error(
        { error },
        'tasks: calls that ended unseen are not looked for until the next start',
      );
    }
  }

  /** Deletes expired tasks in batches, one for each event-loop turn. */
  async deleteExpired(): Promise<void> {
    const { store, clock, retention, log } = this.#ports;
    if (this.#isStopped) return;
    try {
      const now = clock.now();
      const deleted = (await store.deleteEnded(now - retention)) + (await store.ledger.prune(now));
      if (deleted > 0) setImmediate(() => void this.deleteExpired());
    } catch (error) {
      log.error({ error }, 'tasks: expired ones stay for now');
    }
  }

  /** Stops deleting. */
  stop(): void {
    this.#isStopped = true;
    this.#stopLooking();
  }
}
