import type { Task } from '../../machines/task/task.ts';
import type { Clock, Log } from '../ports.ts';
import type { ApprovalBacklog, ApprovalRows, ApprovalWrite } from '../records/records.ts';
import { AdapterDeliveries } from './adapter-deliveries.ts';
import type { ChannelAdapter, ChannelState, KeptNotice } from './channel-adapter.ts';
import { within } from './time-limit.ts';

export interface ApprovalCourierOptions {
  rows: ApprovalRows;
  adapters: readonly ChannelAdapter[];
  clock: Clock;
  log: Log;
}

/** Pause after the store failed, in milliseconds. */
const storePause = 5_000;

/** Time that messages under way have to finish when the courier stops, in milliseconds. */
const stopPatience = 2_000;

/** Timeout of an adapter's stop, in milliseconds. */
const adapterPatience = 5_000;

/**
 * Asks people for approvals through the adapters and keeps the messages up to date. Undelivered notices stay in the
 * store, whatever fails. A post that was accepted but not recorded before a crash is sent again: twice rather than
 * never.
 */
export class ApprovalCourier {
  readonly #options: ApprovalCourierOptions;
  readonly #deliveries = new Map<string, AdapterDeliveries>();
  /** Tasks that waited when they were last heard of. */
  readonly #waiting = new Set<string>();
  #writes: ApprovalWrite[] = [];
  #isScheduled = false;
  #isStopped = false;
  /** False until the tasks that wait are known. */
  #isCaughtUp = true;
  /** The timer that ends a pause of the store; `null` while there is none. */
  #storePause: unknown = null;
  #onIdle: () => void = () => undefined;

  constructor(options: ApprovalCourierOptions) {
    this.#options = options;
    for (const adapter of options.adapters) {
      if (!adapter.capabilities.approvals) continue;
      const deliveries = new AdapterDeliveries({
        ...options,
        adapter,
        keep: (write) => void this.#writes.push(write),
        onRoom: () => this.#schedule(),
      });
      this.#deliveries.set(adapter.name, deliveries);
    }
  }

  /** Starts the adapters and resumes undelivered notices. */
  start(): void {
    this.#isCaughtUp = false;
    this.#catchUp();
    for (const adapter of this.#options.adapters) {
      adapter.start((state) => this.#follow(adapter, state));
      this.#follow(adapter, adapter.state);
    }
  }

  /** Notifies approvers of a change of a committed task; returns at once for one that never waited. */
  changed(task: Task): void {
    if (this.#isStopped) return;
    if (task.deferral !== null) this.#waiting.add(task.id);
    else if (!this.#waiting.delete(task.id)) return;
    this.#attempt(() => {
      for (const row of this.#options.rows.ofTask(task.id)) {
        this.#deliveries.get(row.adapter)?.changed(row);
      }
    });
    this.#schedule();
  }

  /**
   * Returns the rows of a deferral for the targets of one adapter, oldest first, with the reference of a message that
   * is posted but not stored yet. Throws when the store cannot be read.
   */
  find(deferralId: string, adapter: string): KeptNotice[] {
    const placed = this.#writes.filter(({ ref }) => ref !== null);
    return this.#options.rows.find(deferralId, adapter).map(({ notice, ref, position }) => ({
      notice,
      ref: ref ?? placed.find((write) => write.position === position)?.ref ?? null,
    }));
  }

  /** Counts undelivered notices by adapter. */
  pending(): ApprovalBacklog[] {
    return this.#options.rows.backlog();
  }

  /** The number of deliveries in memory. */
  get live(): number {
    return [...this.#deliveries.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Waits two seconds for deliveries under way, records their results, and stops the adapters. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    if (this.#storePause !== null) this.#options.clock.clearTimeout(this.#storePause);
    this.#storePause = null;
    for (const deliveries of this.#deliveries.values()) deliveries.setUp(false);
    await this.#idle();
    for (const deliveries of this.#deliveries.values()) deliveries.stop();
    this.#keep();
    await Promise.allSettled(this.#options.adapters.map((adapter) => this.#stopped(adapter)));
  }

  /** The agent stops even when an adapter hangs. */
  async #stopped(adapter: ChannelAdapter): Promise<void> {
    await within(this.#options.clock, adapterPatience, adapter.stop());
  }

  #catchUp(): boolean {
    if (this.#isCaughtUp) return true;
    return this.#attempt(() => {
      const { rows } = this.#options;
      rows.queueUnasked();
      for (const id of rows.waiting()) this.#waiting.add(id);
      this.#isCaughtUp = true;
    });
  }

  #follow({ name }: ChannelAdapter, state: ChannelState): void {
    if (!this.#isStopped) this.#deliveries.get(name)?.setUp(isUp(state));
  }

  /** Everything that happens in one turn of the event loop is kept in one commit, before anything new begins. */
  #schedule(): void {
    if (this.#isScheduled || this.#storePause !== null) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.live === 0) this.#onIdle();
      if (this.#isStopped || !this.#catchUp() || !this.#keep()) return;
      this.#attempt(() => {
        for (const deliveries of this.#deliveries.values()) deliveries.resume();
      });
    });
  }

  #keep(): boolean {
    return this.#attempt(() => {
      this.#options.rows.keep(this.#writes);
      this.#writes = [];
    });
  }

  /** Starts nothing new while the store fails: a post that cannot be recorded would be sent again and again. */
  #attempt(run: () => void): boolean {
    try {
      run();
      return true;
    } catch (error) {
      if (this.#storePause !== null) return false;
      const { log, clock } = this.#options;
      log.error({ error }, 'approvals: the store failed; messages wait until it can be used again');
      if (this.#isStopped) return false;
      this.#storePause = clock.setTimeout(() => {
        this.#storePause = null;
        this.#schedule();
      }, storePause);
      return false;
    }
  }

  #idle(): Promise<void> {
    if (this.live === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const { clock } = this.#options;
      const timer = clock.setTimeout(resolve, stopPatience);
      this.#onIdle = () => {
        clock.clearTimeout(timer);
        resolve();
      };
    });
  }
}

function isUp(state: ChannelState): boolean {
  return state === 'connected' || state === 'draining';
}
