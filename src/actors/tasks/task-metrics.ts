import type { OpenHoldState } from '../../machines/domain/hold.ts';
import type { TaskState } from '../../machines/domain/task.ts';
import type { TaskRows, WaitFigures } from '../records/records.ts';
import type { Measured } from './measured.ts';

/** Minimum time in milliseconds for which an expensive count is reused. */
const reuse = 15_000;

/** Counting takes at most this part of the time. */
const share = 1 / 100;

/**
 * Reuses an expensive count for 15 seconds or 100 times its duration, and renews it in the background. Concurrent readers
 * share one count. An inexpensive count is always a new one.
 */
export class ReusedCount<Count> {
  readonly #count: () => Promise<Count>;
  readonly #isExpensive: (count: Count) => boolean;
  readonly #now: () => number;
  #last: { count: Count; until: number } | null = null;
  #counting: Promise<Count> | null = null;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(
    count: () => Promise<Count>,
    isExpensive: (count: Count) => boolean,
    now: () => number,
  ) {
    this.#count = count;
    this.#isExpensive = isExpensive;
    this.#now = now;
  }

  /** True while the last count is reused. */
  get isReused(): boolean {
    return this.#last !== null && this.#isExpensive(this.#last.count);
  }

  /** Returns the count. Rejects if it cannot be read and there is no earlier one to reuse. */
  now(): Promise<Count> {
    const last = this.#last;
    if (last === null || !this.#isExpensive(last.count)) return this.#renew();
    if (this.#now() >= last.until) void this.#renew().catch(() => undefined);
    return Promise.resolve(last.count);
  }

  #renew(): Promise<Count> {
    const began = this.#now();
    this.#counting ??= this.#count()
      .then((count) => {
        const at = this.#now();
        this.#last = { count, until: at + Math.max(reuse, (at - began) / share) };
        return count;
      })
      .finally(() => {
        this.#counting = null;
      });
    return this.#counting;
  }
}

export interface TaskMetricsPorts {
  rows: TaskRows;
  /** True if other daemons write to the same store. */
  isShared: boolean;
  /** Returns the number of tasks with an actor. */
  live: () => number;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

type Census = Partial<Record<TaskState, number>>;
type OpenHolds = Partial<Record<OpenHoldState, number>>;

/** Counts tasks, without any data that identifies their owners. */
export class TaskMetrics {
  readonly #ports: TaskMetricsPorts;
  readonly #hearing: ((measured: Measured) => void)[] = [];
  readonly #census: ReusedCount<Census>;
  readonly #pending: ReusedCount<number>;
  readonly #openHolds: ReusedCount<OpenHolds>;
  readonly #strangers: ReusedCount<number>;
  #hasStrangers = true;

  constructor(ports: TaskMetricsPorts) {
    this.#ports = ports;
    const { rows, now, isShared } = ports;
    const read = () => rows.countByState();
    // The store of a single daemon counts without reading its tasks.
    this.#census = new ReusedCount(read, (found) => isShared && isMany(found), now);
    this.#pending = new ReusedCount(
      () => rows.count('deferred'),
      (pending) => isShared && pending >= many,
      now,
    );
    this.#openHolds = new ReusedCount(() => rows.countOpenHolds(), isMany, now);
    this.#strangers = new ReusedCount(
      () => this.#countStrangers(),
      () => isShared && this.#census.isReused,
      now,
    );
  }

  /** Returns the number of tasks with an actor, and of tasks that wait for a decision. */
  async load(): Promise<{ live: number; deferred: number }> {
    const { rows, live } = this.#ports;
    return { live: live(), deferred: await rows.count('deferred') };
  }

  /** Returns the number of tasks with an actor. */
  live(): number {
    return this.#ports.live();
  }

  /**
   * Counts tasks by state; states without tasks are omitted. Over a shared store with many tasks, a count may be some
   * seconds old.
   */
  async census(): Promise<Census> {
    const [census, deferred] = await Promise.all([this.#census.now(), this.#pending.now()]);
    return { ...census, deferred };
  }

  /** Counts holds without a known end by state. If there are many, the count may be some seconds old. */
  openHolds(): Promise<OpenHolds> {
    return this.#openHolds.now();
  }

  /** Describes the calls that wait for a decision at a time, in epoch milliseconds. */
  waits(now: number): Promise<WaitFigures> {
    return this.#ports.rows.waits(now);
  }

  /** Returns the number of unfinished tasks that only another release can resume. */
  strangers(): Promise<number> {
    return this.#strangers.now();
  }

  async #countStrangers(): Promise<number> {
    // Without other writers, the number stays zero once it is zero.
    if (!this.#hasStrangers && !this.#ports.isShared) return 0;
    const strangers = await this.#ports.rows.strangers();
    const found = strangers.reduce((sum, { tasks }) => sum + tasks, 0);
    this.#hasStrangers = found > 0;
    return found;
  }

  /** Subscribes to measurements of tasks; the listener must not throw. */
  onMeasured(hear: (measured: Measured) => void): void {
    this.#hearing.push(hear);
  }

  /** Reports a measurement to all listeners. */
  measured(measured: Measured): void {
    for (const hear of this.#hearing) hear(measured);
  }
}

/** From this number of tasks, a database takes long to count them. */
const many = 10_000;

function isMany(counted: Census | OpenHolds): boolean {
  return Object.values(counted).reduce((sum, tasks) => sum + tasks, 0) >= many;
}
