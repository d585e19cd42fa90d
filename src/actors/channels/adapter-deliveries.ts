import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';
import type { Clock, Log } from '../ports.ts';
import type {
  ApprovalRow,
  ApprovalRows,
  ApprovalSlot,
  ApprovalWrite,
} from '../storage/approval-rows.ts';
import type { ChannelAdapter } from './channel-adapter.ts';
import { DeliveryLog } from './delivery-log.ts';
import { createDeliveryLogic, type DeliveryLogic, LiveDelivery } from './live-delivery.ts';
import { Places } from './places.ts';
import { SetAside } from './set-aside.ts';

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

/**
 * What one adapter has under way: for each target one post and one update at a time, oldest first. Of the rest
 * nothing is in memory but the deliveries that pause after a failure, one for each of those.
 */
export class AdapterDeliveries {
  readonly #options: AdapterDeliveriesOptions;
  readonly #live = new Map<number, LiveDelivery>();
  readonly #logic: DeliveryLogic;
  readonly #log: DeliveryLog;
  readonly #setAside = new SetAside();
  #last: ApprovalSlot | null = null;
  #isUp = false;

  constructor(options: AdapterDeliveriesOptions) {
    this.#options = options;
    this.#log = new DeliveryLog(options.log);
    this.#logic = createDeliveryLogic({
      ...options,
      places: new Places(mostSending),
      keep: (write) => this.#keep(write),
      onFailure: (position, failure) => this.#noteFailure(position, failure),
      onGivenUp: (notice) => this.#log.givenUp(notice),
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
        : rows.oldestDue(adapter.name, slot, this.#setAside.positions);
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
      this.#setAside.forget(delivery.row.position);
      delivery.stop();
    }
    if (!delivery.isSending) this.#options.onRoom();
  }

  #keep(write: ApprovalWrite): void {
    const { position, ref } = write;
    const delivery = this.#live.get(position);
    if (delivery !== undefined && (ref !== null || delivery.isPosted)) {
      this.#log.delivered(position, delivery.row.notice);
    }
    this.#log.forget(position);
    this.#setAside.forget(position);
    this.#options.keep(write);
  }

  #noteFailure(position: number, failure: DeliveryFailure): void {
    const delivery = this.#live.get(position);
    if (delivery === undefined) return;
    const { notice } = delivery.row;
    this.#setAside.failed(position, `${delivery.isPosted} ${notice.request.target}`, failure);
    this.#log.failed(position, notice, failure);
  }
}
