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
import { type ChannelAdapter, DeliveryError } from './channel-adapter.ts';
import type { Lanes, Ticket } from './lanes.ts';

/** Timeout for one message of an adapter, in milliseconds; the adapter's own attempts are shorter. */
export const patience = 60_000;

/**
 * Calls an adapter and gives up after `patience`, or when the signal aborts, even if the adapter ignores its signal.
 * Rejects with the adapter's error, DeliveryError on timeout, or the signal's reason.
 */
export function callAdapter<Result>(
  clock: Clock,
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const end = (reason: unknown): void => {
    reject(reason);
    ended.abort(reason);
  };
  const abort = (): void => end(signal.reason);
  const timer = clock.setTimeout(() => end(tooSlow()), patience);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  // Treats a synchronous throw like a rejection.
  else new Promise<Result>((settle) => settle(call(ended.signal))).then(resolve, reject);
  return promise.finally(() => {
    clock.clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  });
}

/** Returns why an adapter did not deliver a notice. For an unexpected error only its name is reported. */
export function failureOf(adapter: string, error: unknown): DeliveryFailure {
  if (error instanceof DeliveryError) {
    const { fault, retryAfter, message: reason } = error;
    return { kind: 'failed', fault, retryAfter, reason, isDefect: false };
  }
  const name = error instanceof Error ? error.name : typeof error;
  const reason = `the ${adapter} adapter broke with ${name}; this is a defect, please report it`;
  return { kind: 'failed', fault: 'later', retryAfter: null, reason, isDefect: true };
}

function tooSlow(): DeliveryError {
  return new DeliveryError(
    `the service did not respond within ${patience / 1_000} seconds; retrying`,
    { fault: 'later' },
  );
}

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
