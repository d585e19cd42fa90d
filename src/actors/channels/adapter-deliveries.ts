import type { ApprovalNotice } from '../../machines/channels/approval-notice.ts';
import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';
import type { Clock, Log } from '../ports.ts';
import type {
  ApprovalRow,
  ApprovalRows,
  ApprovalSlot,
  ApprovalWrite,
} from '../storage/approval-rows.ts';
import type { ChannelAdapter } from './channel-adapter.ts';
import { createDeliveryLogic, type DeliveryLogic, LiveDelivery } from './live-delivery.ts';
import { Places } from './places.ts';

/** What the deliveries of one adapter stand on. */
export interface AdapterDeliveriesOptions {
  adapter: ChannelAdapter;
  rows: ApprovalRows;
  clock: Clock;
  log: Log;
  /** Keeps what became of a row, soon; until then the row may still look due. */
  keep: (write: ApprovalWrite) => void;
  /** Hears that there may be a place for another row. */
  onRoom: () => void;
}

/** Messages of one adapter that are under way at once. */
export const mostSending = 16;

/** Messages that may be set aside at once, because the adapter breaks on them. */
const mostSetAside = 4;

/** Failures that are remembered, so that each is logged once. */
const mostRemembered = 1_000;

/**
 * What one adapter has under way: for each target one post and one update at a time, oldest first. Of the rest
 * nothing is in memory but the deliveries that pause after a failure, one for each of those.
 */
export class AdapterDeliveries {
  readonly #options: AdapterDeliveriesOptions;
  readonly #live = new Map<number, LiveDelivery>();
  readonly #logic: DeliveryLogic;
  readonly #logged = new Set<string>();
  /** Rows that the adapter breaks on: they are tried again, and hold up nobody else meanwhile. */
  readonly #setAside = new Set<number>();
  #last: ApprovalSlot | null = null;
  #isUp = false;

  constructor(options: AdapterDeliveriesOptions) {
    this.#options = options;
    this.#logic = createDeliveryLogic({
      ...options,
      places: new Places(mostSending),
      keep: (write) => {
        this.#forgetFailures(write.position);
        options.keep(write);
      },
      onFailure: (position, failure) => {
        if (failure.isDefect && this.#setAside.size < mostSetAside) this.#setAside.add(position);
        this.#logFailure(position, failure);
      },
      onGivenUp: (notice) => this.#logGivenUp(notice),
    });
  }

  /** Deliveries in memory. */
  get size(): number {
    return this.#live.size;
  }

  /** Follows the adapter: while it is down nothing begins, and what is under way may end. */
  setUp(isUp: boolean): void {
    this.#isUp = isUp;
    for (const delivery of [...this.#live.values()]) this.#settle(delivery);
    if (isUp) this.#options.onRoom();
  }

  /** Takes up rows that are due, as far as there is room. Must not be called while writes are not kept. */
  takeUp(): void {
    if (!this.#isUp) return;
    const { adapter, rows } = this.#options;
    const start = this.#last;
    for (let slot = this.#nextSlot(start); slot !== undefined && this.#hasRoom(); ) {
      this.#last = slot;
      const row = this.#isBusy(slot)
        ? undefined
        : rows.oldestDue(adapter.name, slot, [...this.#setAside]);
      if (row !== undefined) this.#begin(row);
      slot = this.#nextSlot(slot);
    }
    if (start === null || !this.#hasRoom()) return;
    // Those before the one it began with have their turn now.
    this.#last = null;
    this.takeUp();
  }

  /** Tells a delivery under way what changed. */
  changed(row: ApprovalRow): void {
    this.#live.get(row.position)?.change(row);
  }

  /** Ends everything at once. */
  stop(): void {
    this.#isUp = false;
    for (const delivery of this.#live.values()) delivery.stop();
    this.#live.clear();
    this.#setAside.clear();
  }

  #nextSlot(after: ApprovalSlot | null): ApprovalSlot | undefined {
    return this.#options.rows.nextSlot(this.#options.adapter.name, after);
  }

  #hasRoom(): boolean {
    const sending = [...this.#live.values()].filter(({ isSending }) => isSending);
    return sending.length < mostSending;
  }

  #isBusy({ target, isPosted }: ApprovalSlot): boolean {
    return [...this.#live.values()].some(
      (delivery) =>
        delivery.isPosted === isPosted &&
        delivery.row.notice.request.target === target &&
        !this.#setAside.has(delivery.row.position),
    );
  }

  #begin(row: ApprovalRow): void {
    const { clock, log } = this.#options;
    const delivery: LiveDelivery = new LiveDelivery(this.#logic, clock, row, {
      onMoved: () => this.#settle(delivery),
      // It stays where it is, so that nothing of its target is sent twice in a loop.
      onBroken: (error) => log.error({ error }, 'approvals: a delivery broke'),
    });
    this.#live.set(row.position, delivery);
    delivery.start();
  }

  #settle(delivery: LiveDelivery): void {
    const isOver = delivery.isAtRest || (!this.#isUp && !delivery.isSending);
    if (isOver && this.#live.get(delivery.row.position) === delivery) {
      this.#live.delete(delivery.row.position);
      this.#setAside.delete(delivery.row.position);
      delivery.stop();
    }
    if (!delivery.isSending) this.#options.onRoom();
  }

  #logFailure(position: number, { fault, reason }: DeliveryFailure): void {
    const key = `${position}:${fault}`;
    const row = this.#live.get(position)?.row;
    if (row === undefined || this.#logged.has(key)) return;
    if (this.#logged.size >= mostRemembered) this.#logged.clear();
    this.#logged.add(key);
    const level = fault === 'later' ? 'warn' : 'error';
    const outcome = fault === 'message' ? 'was refused for good' : 'is tried again';
    this.#options.log[level](
      { ...placeOf(row.notice), error: reason },
      `approvals: a message about a held call was not delivered and ${outcome}; the call can be decided all the same`,
    );
  }

  #forgetFailures(position: number): void {
    for (const fault of ['later', 'target', 'message']) this.#logged.delete(`${position}:${fault}`);
  }

  #logGivenUp(notice: ApprovalNotice): void {
    this.#options.log.error(
      placeOf(notice),
      'approvals: a message about a held call could not be brought up to date for an hour and stays as it is; look at the task instead',
    );
  }
}

function placeOf({ request }: ApprovalNotice): Record<string, string> {
  const { taskId, deferralId, target } = request;
  return { task_id: taskId, deferral_id: deferralId, target };
}
