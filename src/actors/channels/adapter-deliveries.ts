import type { ApprovalNotice } from '../../machines/channels/approval-notice.ts';
import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { ApprovalRow, ApprovalRows, ApprovalSlot, ApprovalWrite } from '../records/records.ts';
import type { ChannelAdapter } from './channel-adapter.ts';
import { DeliveryLog } from './delivery-log.ts';
import { Lanes, laneOf, type Ticket } from './lanes.ts';
import { createDeliveryLogic, type DeliveryLogic, LiveDelivery } from './live-delivery.ts';
import { asksForTime, Quarantine } from './quarantine.ts';

export interface AdapterDeliveriesOptions {
  adapter: ChannelAdapter;
  rows: ApprovalRows;
  clock: Clock;
  log: Log;
  /** Queues the result of a row for the store; until it is written the row may still appear due. */
  keep: (write: ApprovalWrite) => void;
  /** Returns the positions of the rows whose result is not yet written. */
  unkept: () => readonly number[];
  /** Called when there may be room for another row. */
  onRoom: () => void;
}

/** Maximum concurrent messages of one adapter. */
export const mostSending = 16;

/**
 * Runs the deliveries of one adapter: as many posts and updates per target as its lanes allow, nearest deadline first.
 * Deliveries that pause after a failure stay in memory; the rest wait in the store.
 */
export class AdapterDeliveries {
  readonly #options: AdapterDeliveriesOptions;
  readonly #live = new Map<number, LiveDelivery>();
  readonly #logic: DeliveryLogic;
  readonly #log: DeliveryLog;
  readonly #quarantine: Quarantine;
  readonly #lanes: Lanes;
  #last: ApprovalSlot | null = null;
  #isUp = false;

  constructor(options: AdapterDeliveriesOptions) {
    this.#options = options;
    const { adapter, clock, onRoom } = options;
    const mostOfOne = adapter.mostAtOnce ?? 1;
    this.#log = new DeliveryLog(options.log);
    this.#quarantine = new Quarantine(mostOfOne === 1);
    this.#lanes = new Lanes({ clock, most: mostSending, mostOfOne, onRoom });
    this.#logic = createDeliveryLogic({
      ...options,
      lanes: this.#lanes,
      ticketOf: (notice, isPosted) => this.#ticketOf(notice, isPosted),
      keep: (write) => this.#keep(write),
      onFailure: (position, failure) => this.#noteFailure(position, failure),
      onGivenUp: (notice) => this.#log.givenUp(notice),
    });
  }

  /** Number of deliveries in memory. */
  get size(): number {
    return this.#live.size;
  }

  /** Follows the state of the adapter: while it is down no delivery starts, and running ones may finish. */
  setUp(isUp: boolean): void {
    this.#isUp = isUp;
    for (const delivery of [...this.#live.values()]) this.#settle(delivery);
    if (!isUp) return;
    this.#lanes.clear();
    this.#options.onRoom();
  }

  /**
   * Resumes due rows as far as there is room; urgent ones are sent at the next `letIn`. Must not be called
   * concurrently. Rejects when the store cannot be read.
   */
  async resume(): Promise<void> {
    const start = this.#last;
    await this.#resumeAfter(start);
    if (start === null || !this.#hasRoom()) return;
    // Rows before the last started one get their turn now.
    this.#last = null;
    await this.#resumeAfter(null);
  }

  /** Starts waiting messages as far as there is room. */
  letIn(): void {
    if (this.#isUp) this.#lanes.letIn();
  }

  /** Passes a change to a running delivery. */
  changed(row: ApprovalRow): void {
    this.#live.get(row.position)?.change(row);
  }

  isAbout(taskId: string): boolean {
    return [...this.#live.values()].some(({ row }) => row.notice.request.taskId === taskId);
  }

  /** Stops all deliveries immediately. */
  stop(): void {
    this.#isUp = false;
    for (const delivery of this.#live.values()) delivery.stop();
    this.#live.clear();
    this.#lanes.stop();
  }

  async #resumeAfter(start: ApprovalSlot | null): Promise<void> {
    const { rows, adapter } = this.#options;
    for (let after = start; this.#hasRoom(); ) {
      const slot = await rows.nextSlot(adapter.name, after);
      if (slot === undefined || !this.#hasRoom()) return;
      this.#last = slot;
      await this.#fill(slot);
      after = slot;
    }
  }

  /** Quarantined rows enter only when no other row waits, so they never displace one. */
  #hasRoom(): boolean {
    if (!this.#isUp) return false;
    const sending = [...this.#live.values()].filter(
      ({ isSending, row }) => isSending && !this.#quarantine.has(row.position),
    );
    return sending.length < mostSending;
  }

  async #fill(slot: ApprovalSlot): Promise<void> {
    const { adapter, rows, unkept } = this.#options;
    while (this.#hasPlace(slot)) {
      // Excludes rows whose result is not yet written: a delivered row still looks due in the store, and a row to
      // repost still looks posted.
      const row = await rows.nextDue(adapter.name, slot, [...this.#live.keys(), ...unkept()]);
      // The adapter or its target may have gone down during the read.
      if (row === undefined || !this.#hasPlace(slot)) return;
      this.#begin(row);
    }
  }

  #hasPlace(slot: ApprovalSlot): boolean {
    const busy = this.#liveIn(slot).filter(({ row }) => !this.#quarantine.has(row.position));
    return this.#hasRoom() && busy.length < this.#lanes.width(laneOf(slot.target, slot.isPosted));
  }

  #liveIn(slot: ApprovalSlot): LiveDelivery[] {
    return [...this.#live.values()].filter((delivery) => isIn(slot, delivery));
  }

  #ticketOf({ request }: ApprovalNotice, isPosted: boolean): Ticket {
    const { target, deferralId, expiresAt } = request;
    const live = [...this.#live.values()].find(
      ({ row: { notice } }) =>
        notice.request.deferralId === deferralId && notice.request.target === target,
    );
    const position = live?.row.position ?? 0;
    const isQuarantined = this.#quarantine.has(position);
    return { lane: laneOf(target, isPosted), position, expiresAt, isQuarantined };
  }

  #begin(row: ApprovalRow): void {
    const { clock, log } = this.#options;
    const delivery: LiveDelivery = new LiveDelivery(this.#logic, clock, row, {
      onMoved: () => this.#settle(delivery),
      // The row stays in memory; otherwise it would be started and sent again in a loop.
      onBroken: (error) => log.error({ error }, 'approvals: a delivery broke'),
    });
    this.#live.set(row.position, delivery);
    delivery.start();
  }

  #settle(delivery: LiveDelivery): void {
    const isOver =
      delivery.isAtRest || (!this.#isUp && !this.#lanes.isSending(delivery.row.position));
    if (isOver && this.#live.get(delivery.row.position) === delivery) {
      this.#live.delete(delivery.row.position);
      this.#quarantine.forget(delivery.row.position);
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
    this.#quarantine.forget(position);
    this.#options.keep(write);
  }

  #noteFailure(position: number, failure: DeliveryFailure): void {
    const delivery = this.#live.get(position);
    if (delivery === undefined) return;
    const { notice } = delivery.row;
    const lane = laneOf(notice.request.target, delivery.isPosted);
    this.#quarantine.failed(position, lane, failure);
    if (this.#lanes.isKnownToFail(lane) && !asksForTime(failure)) return;
    this.#log.failed(position, notice, failure);
  }
}

function isIn({ target, isPosted }: ApprovalSlot, delivery: LiveDelivery): boolean {
  return delivery.isPosted === isPosted && delivery.row.notice.request.target === target;
}
