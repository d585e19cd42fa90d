import type { ApprovalNotice, MessageRef } from '../../machines/channels/approval-notice.ts';
import type { Task } from '../../machines/domain/task.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { ApprovalBacklog, ApprovalRows, ApprovalWrite } from '../records/records.ts';
import { AdapterDeliveries } from './adapter-deliveries.ts';
import type { ChannelAdapter, ChannelState, KeptNotice } from './channel-adapter.ts';
import { Passes } from './passes.ts';
import { within } from './time-limit.ts';

export interface ApprovalCourierOptions {
  rows: ApprovalRows;
  adapters: readonly ChannelAdapter[];
  clock: Clock;
  log: Log;
}

/** Pause after a store failure, in milliseconds. */
const storePause = 5_000;

/** Time for running messages to finish when the courier stops, in milliseconds. */
const stopPatience = 2_000;

/** Time for the store to save the results of those messages, in milliseconds. */
const storePatience = 5_000;

/** Timeout of an adapter's stop, in milliseconds. */
const adapterPatience = 5_000;

/**
 * Requests approvals through the adapters and keeps the messages up to date. Undelivered notices stay in the store
 * across all failures. A post that was accepted but not recorded before a crash is sent again: at least once, never
 * lost.
 */
export class ApprovalCourier {
  readonly #options: ApprovalCourierOptions;
  readonly #deliveries = new Map<string, AdapterDeliveries>();
  /** Tasks that were waiting at their last change. */
  readonly #waiting = new Set<string>();
  /**
   * Tasks that changed during a read of rows, or whose own read failed; running deliveries may not have seen the
   * change.
   */
  readonly #changed = new Set<string>();
  readonly #passes = new Passes(() => this.#pass());
  /** Results not yet in the store, oldest first, including those being written. */
  #unkept: ApprovalWrite[] = [];
  #isStopped = false;
  /** False until the waiting tasks are known. */
  #isCaughtUp = true;
  /** The timer that ends a pause of the store; `null` if none is set. */
  #storePause: unknown = null;
  #onIdle: () => void = () => undefined;

  constructor(options: ApprovalCourierOptions) {
    this.#options = options;
    for (const adapter of options.adapters) {
      if (!adapter.capabilities.approvals) continue;
      const deliveries = new AdapterDeliveries({
        ...options,
        adapter,
        keep: (write) => void this.#unkept.push(write),
        unkept: () => this.#unkept.map(({ position }) => position),
        onRoom: () => this.#onRoom(),
      });
      this.#deliveries.set(adapter.name, deliveries);
    }
  }

  /** Starts the adapters and resumes undelivered notices. */
  start(): void {
    this.#isCaughtUp = false;
    this.#schedule();
    for (const adapter of this.#options.adapters) {
      adapter.start((state) => this.#follow(adapter, state));
      this.#follow(adapter, adapter.state);
    }
  }

  /** Notifies approvers of a change of a committed task; returns at once for a task that never waited. */
  changed(task: Task): void {
    if (this.#isStopped) return;
    if (task.deferral !== null) this.#waiting.add(task.id);
    else if (!this.#waiting.delete(task.id) && task.decided === undefined) return;
    if (this.#passes.isUnderway) this.#changed.add(task.id);
    void this.#attempt(() => this.#tell(task.id));
    this.#schedule();
  }

  /**
   * Returns the rows of a deferral for the targets of one adapter, oldest first, with the reference of a message that
   * is posted but not stored yet. Rejects when the store cannot be read.
   */
  async find(deferralId: string, adapter: string): Promise<KeptNotice[]> {
    // Writes that complete during the read may be missing from its result, so both states are merged.
    const before = [...this.#unkept];
    const rows = await this.#options.rows.find(deferralId, adapter);
    const placed = [...before, ...this.#unkept].filter(({ ref }) => ref !== null);
    return rows.map(({ notice, ref, position }) => ({
      notice,
      ref: ref ?? placed.find((write) => write.position === position)?.ref ?? null,
    }));
  }

  /**
   * Returns the notice of the message in a place; `null` for a message that is not ours. Rejects when the store cannot
   * be read.
   */
  async at(ref: MessageRef, adapter: string): Promise<ApprovalNotice | null> {
    return (await this.#options.rows.findAt(adapter, ref))?.notice ?? null;
  }

  /**
   * Requests a new post of the message in a place if the message is gone while its call still waits. Rejects when the
   * store cannot be used.
   */
  async doubt(ref: MessageRef, adapter: string): Promise<void> {
    const { rows } = this.#options;
    const row = await rows.findAt(adapter, ref);
    if (row === undefined) return;
    await rows.doubt(row.position);
    this.#schedule();
  }

  /** Counts undelivered notices by adapter. Rejects when the store cannot be read. */
  pending(): Promise<ApprovalBacklog[]> {
    return this.#options.rows.backlog();
  }

  /** The number of deliveries in memory. */
  get live(): number {
    return [...this.#deliveries.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Waits up to two seconds for running deliveries, saves their results, and stops the adapters. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    const { clock, adapters } = this.#options;
    this.#isStopped = true;
    if (this.#storePause !== null) clock.clearTimeout(this.#storePause);
    this.#storePause = null;
    for (const deliveries of this.#deliveries.values()) deliveries.setUp(false);
    await this.#idle();
    for (const deliveries of this.#deliveries.values()) deliveries.stop();
    await within(clock, storePatience, this.#keepLast());
    await Promise.allSettled(adapters.map((adapter) => this.#stopped(adapter)));
  }

  /** Bounded in time, so a hanging adapter cannot keep the agent from stopping. */
  async #stopped(adapter: ChannelAdapter): Promise<void> {
    await within(this.#options.clock, adapterPatience, adapter.stop());
  }

  #follow({ name }: ChannelAdapter, state: ChannelState): void {
    if (!this.#isStopped) this.#deliveries.get(name)?.setUp(isUp(state));
  }

  #onRoom(): void {
    if (this.live === 0) this.#onIdle();
    this.#schedule();
  }

  #schedule(): void {
    if (!this.#isStopped && this.#storePause === null) this.#passes.ask();
  }

  /** Commits all results of one event-loop turn together, before anything new starts. */
  #pass(): Promise<void> {
    return this.#attempt(async () => {
      if (this.#isStopped || this.#storePause !== null) return;
      await this.#catchUp();
      do {
        await this.#keep();
        await this.#tellAgain();
        for (const deliveries of this.#deliveries.values()) await deliveries.resume();
        // More deliveries ended during the read of rows; their results are saved before `letIn`.
      } while (this.#unkept.length > 0 && !this.#isStopped);
      for (const deliveries of this.#deliveries.values()) deliveries.letIn();
    });
  }

  async #catchUp(): Promise<void> {
    if (this.#isCaughtUp) return;
    for (const id of await this.#options.rows.waiting()) this.#waiting.add(id);
    this.#isCaughtUp = true;
  }

  async #keep(): Promise<void> {
    const writes = [...this.#unkept];
    if (writes.length === 0) return;
    await this.#options.rows.keep(writes);
    this.#unkept.splice(0, writes.length);
  }

  async #keepLast(): Promise<void> {
    await this.#passes.over();
    await this.#attempt(() => this.#keep());
  }

  async #tellAgain(): Promise<void> {
    for (const id of [...this.#changed]) {
      this.#changed.delete(id);
      await this.#tell(id);
    }
  }

  /** Passes the current state of a task to deliveries in memory; later deliveries read it from the store. */
  async #tell(id: string): Promise<void> {
    const all = [...this.#deliveries.values()];
    if (!all.some((deliveries) => deliveries.isAbout(id))) return;
    try {
      const rows = await this.#options.rows.ofTask(id);
      for (const row of rows) this.#deliveries.get(row.adapter)?.changed(row);
    } catch (error) {
      this.#changed.add(id);
      throw error;
    }
  }

  /** Starts nothing new while the store fails: a post that cannot be recorded would be sent repeatedly. */
  async #attempt(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (this.#storePause !== null) return;
      const { log, clock } = this.#options;
      log.error({ error }, 'approvals: the store failed; messages wait until it can be used again');
      if (this.#isStopped) return;
      this.#storePause = clock.setTimeout(() => {
        this.#storePause = null;
        this.#schedule();
      }, storePause);
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
