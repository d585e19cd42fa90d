import { type ActorRefFrom, createActor, fromPromise } from 'xstate';
import type { ApprovalNotice } from '../../machines/channels/approval-notice.ts';
import {
  type DeliveryFailure,
  deliveryMachine,
  type NoticeVersion,
  type PostOutcome,
  type ToldNotice,
  type UpdateInput,
  type UpdateOutcome,
} from '../../machines/channels/delivery-machine.ts';
import type { Clock } from '../ports.ts';
import type { ApprovalRow, ApprovalWrite } from '../records/records.ts';
import { callAdapter, failureOf } from './adapter-call.ts';
import type { ChannelAdapter } from './channel-adapter.ts';
import type { Lanes, Ticket } from './lanes.ts';

/** The common parts of an adapter's deliveries; positions are those of rows. */
export interface DeliveryPorts {
  adapter: ChannelAdapter;
  lanes: Lanes;
  /** Says how a message stands with others of its target; `isPosted` is true when it is there already. */
  ticketOf: (notice: ApprovalNotice, isPosted: boolean) => Ticket;
  clock: Clock;
  /** Keeps what became of a row. */
  keep: (write: ApprovalWrite) => void;
  /** Hears of a try that failed. */
  onFailure: (position: number, failure: DeliveryFailure) => void;
  /** Hears that a message will not be brought up to date. */
  onGivenUp: (notice: ApprovalNotice) => void;
}

/** The observer of one delivery. */
export interface DeliveryWatcher {
  /** Hears that it went from one state to another. */
  onMoved: () => void;
  /** Hears of a defect of the delivery itself. */
  onBroken: (error: unknown) => void;
}

/** The chart with its ports filled, made once for all deliveries of an adapter. */
export type DeliveryLogic = ReturnType<typeof createDeliveryLogic>;

/** Fills the ports of the chart; an actor of it is named after the position of its row. */
export function createDeliveryLogic({ keep, onFailure, onGivenUp, ...service }: DeliveryPorts) {
  const write = (
    id: string,
    { version, notice, isClosed }: ToldNotice,
    ref: ApprovalWrite['ref'],
  ): void => keep({ position: Number(id), version, ref, told: notice, isClosed });
  return deliveryMachine.provide({
    actors: {
      post: fromPromise<PostOutcome, { notice: ApprovalNotice }>(({ input: { notice }, signal }) =>
        attempt(service, service.ticketOf(notice, false), signal, async (within) => {
          const ref = await service.adapter.deliver(notice, within);
          return { kind: 'posted', ref } as const;
        }),
      ),
      update: fromPromise<UpdateOutcome, UpdateInput>(({ input: { ref, notice, news }, signal }) =>
        attempt(service, service.ticketOf(notice, true), signal, async (within) => {
          await service.adapter.update(ref, notice, news, within);
          return { kind: 'updated' } as const;
        }),
      ),
    },
    actions: {
      keepRef: ({ self }, { ref, told }) => write(self.id, told, ref),
      keepTold: ({ self }, told: ToldNotice) => write(self.id, told, null),
      noteFailure: ({ self }, failure: DeliveryFailure) => onFailure(Number(self.id), failure),
      noteGivenUp: (_, notice: ApprovalNotice) => onGivenUp(notice),
    },
  });
}

/** The delivery of one row while it has something to tell. */
export class LiveDelivery {
  readonly row: ApprovalRow;
  readonly #actor: ActorRefFrom<DeliveryLogic>;

  constructor(logic: DeliveryLogic, clock: Clock, row: ApprovalRow, watcher: DeliveryWatcher) {
    this.row = row;
    const { position, ref, told } = row;
    const input = { ref, told, latest: versionOf(row) };
    this.#actor = createActor(logic, { id: String(position), clock, input });
    const { onMoved, onBroken } = watcher;
    this.#actor.subscribe({ next: onMoved, complete: onMoved, error: onBroken });
  }

  /** Begins; its watcher hears of it at once. */
  start(): void {
    this.#actor.start();
  }

  /** True when the message is there. */
  get isPosted(): boolean {
    return this.#actor.getSnapshot().context.ref !== null;
  }

  /** True while a message is being sent, or about to be. */
  get isSending(): boolean {
    return this.#actor.getSnapshot().hasTag('sending');
  }

  /** True when it has nothing to tell, for now or for ever. */
  get isAtRest(): boolean {
    const snapshot = this.#actor.getSnapshot();
    return snapshot.status === 'done' || snapshot.matches('posted');
  }

  /** Delivers the current notice. */
  change(row: ApprovalRow): void {
    this.#actor.send({ type: 'notice.changed', latest: versionOf(row) });
  }

  /** Ends the delivery and its request. */
  stop(): void {
    this.#actor.stop();
  }
}

function attempt<Outcome extends PostOutcome | UpdateOutcome>(
  { adapter, lanes, clock }: Pick<DeliveryPorts, 'adapter' | 'lanes' | 'clock'>,
  ticket: Ticket,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<Outcome>,
): Promise<Outcome | DeliveryFailure> {
  const failed = (error: unknown): DeliveryFailure => failureOf(adapter.name, error);
  return lanes
    .run(ticket, signal, () =>
      callAdapter<Outcome | DeliveryFailure>(clock, signal, call).catch(failed),
    )
    .catch(failed);
}

function versionOf({ version, notice }: ApprovalRow): NoticeVersion {
  return { version, notice };
}
