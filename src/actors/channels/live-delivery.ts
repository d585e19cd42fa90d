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
import type { Clock } from '../ports/clock.ts';
import type { ApprovalRow, ApprovalWrite } from '../records/records.ts';
import { callAdapter, failureOf } from './adapter-call.ts';
import type { ChannelAdapter } from './channel-adapter.ts';
import type { Lanes, Ticket } from './lanes.ts';

/** Shared ports of an adapter's deliveries; positions are row positions. */
export interface DeliveryPorts {
  adapter: ChannelAdapter;
  lanes: Lanes;
  /** Returns the scheduling ticket of a message; `isPosted` is true if it has been posted. */
  ticketOf: (notice: ApprovalNotice, isPosted: boolean) => Ticket;
  clock: Clock;
  /** Saves the result of a row. */
  keep: (write: ApprovalWrite) => void;
  /** Called after a failed attempt. */
  onFailure: (position: number, failure: DeliveryFailure) => void;
  /** Called when a message will not be updated. */
  onGivenUp: (notice: ApprovalNotice) => void;
}

/** Observer of one delivery. */
export interface DeliveryWatcher {
  /** Called after each state change. */
  onMoved: () => void;
  /** Called on an internal error of the delivery. */
  onBroken: (error: unknown) => void;
}

/** The chart with its ports bound, shared by all deliveries of an adapter. */
export type DeliveryLogic = ReturnType<typeof createDeliveryLogic>;

/** Binds the ports of the chart; an actor's id is the position of its row. */
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

/** The running delivery of one row. */
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

  /** Starts; the watcher is called at once. */
  start(): void {
    this.#actor.start();
  }

  /** True once the message is posted. */
  get isPosted(): boolean {
    return this.#actor.getSnapshot().context.ref !== null;
  }

  /** True while a message is being sent or is about to be. */
  get isSending(): boolean {
    return this.#actor.getSnapshot().hasTag('sending');
  }

  /** True when it has nothing to send, now or permanently. */
  get isAtRest(): boolean {
    const snapshot = this.#actor.getSnapshot();
    return snapshot.status === 'done' || snapshot.matches('posted');
  }

  /** Delivers the current notice. */
  change(row: ApprovalRow): void {
    this.#actor.send({ type: 'notice.changed', latest: versionOf(row) });
  }

  /** Stops the delivery and aborts its request. */
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
