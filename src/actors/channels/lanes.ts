import { type ActorRefFrom, createActor } from 'xstate';
import type {
  DeliveryFailure,
  PostOutcome,
  UpdateOutcome,
} from '../../machines/channels/delivery-machine.ts';
import { laneMachine } from '../../machines/channels/lane-machine.ts';
import type { Clock } from '../ports/clock.ts';

/** Returns the lane of a target; posts and updates have separate lanes. */
export function laneOf(target: string, isPosted: boolean): string {
  return `${isPosted ? 'update' : 'post'} ${target}`;
}

export interface LanesOptions {
  clock: Clock;
  /** Maximum concurrent messages of the adapter. */
  most: number;
  /** Maximum concurrent messages of one lane. */
  mostOfOne: number;
  /** Called when a lane has room for another message; call `letIn` once more urgent rows are queued. */
  onRoom: () => void;
}

/** A message to send: its lane and its priority. */
export interface Ticket {
  /** Lane name, as returned by `laneOf`. */
  lane: string;
  position: number;
  /** Time at which its call is denied, in epoch milliseconds. */
  expiresAt: number;
  /** True if it has failed before; such messages go last. */
  isQuarantined: boolean;
}

interface Waiting {
  ticket: Ticket;
  begin: () => void;
}

interface Lane {
  actor: ActorRefFrom<typeof laneMachine>;
  sending: number;
}

/** Schedules messages within the limits of their lanes: messages that never failed first, nearest deadline first. */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, Lane>();
  #waiting: Waiting[] = [];
  readonly #sending = new Set<number>();
  #isStopped = false;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** True while a request for the message is in flight. */
  isSending(position: number): boolean {
    return this.#sending.has(position);
  }

  /** Returns how many messages without failures a lane may prepare and send at once. */
  width(name: string): number {
    const lane = this.#lanes.get(name);
    if (lane === undefined || lane.actor.getSnapshot().hasTag('open')) {
      return this.#options.mostOfOne;
    }
    return lane.actor.getSnapshot().hasTag('probing') ? 1 : 0;
  }

  /** True after several consecutive failures on a lane, when a further failure is not worth reporting. */
  isKnownToFail(name: string): boolean {
    return (this.#lanes.get(name)?.actor.getSnapshot().context.failures ?? 0) > 1;
  }

  /** Sends once there is room, and records the outcome. Rejects with the signal's reason if the signal aborts first. */
  async run<Outcome extends PostOutcome | UpdateOutcome>(
    ticket: Ticket,
    signal: AbortSignal,
    send: () => Promise<Outcome | DeliveryFailure>,
  ): Promise<Outcome | DeliveryFailure> {
    await this.#take(ticket, signal);
    const lane = this.#lane(ticket.lane);
    try {
      const outcome = await send();
      if (!signal.aborted) note(lane, ticket, outcome);
      return outcome;
    } finally {
      lane.sending -= 1;
      this.#sending.delete(ticket.position);
      this.#options.onRoom();
    }
  }

  /** Starts waiting messages as far as there is room. */
  letIn(): void {
    while (this.#sending.size < this.#options.most) {
      const free = this.#waiting.filter(({ ticket }) => this.#isFree(ticket));
      const next = free.toSorted(byTurn)[0];
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((other) => other !== next);
      this.#sending.add(next.ticket.position);
      this.#lane(next.ticket.lane).sending += 1;
      next.begin();
    }
  }

  /** Ends the pauses of all lanes and resets their failures. */
  clear(): void {
    for (const { actor } of this.#lanes.values()) actor.send({ type: 'message.taken' });
  }

  /** Stops all lanes. */
  stop(): void {
    this.#isStopped = true;
    for (const { actor } of this.#lanes.values()) actor.stop();
  }

  #isFree({ lane }: Ticket): boolean {
    return (this.#lanes.get(lane)?.sending ?? 0) < this.width(lane);
  }

  #lane(name: string): Lane {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    const { clock, mostOfOne, onRoom } = this.#options;
    const actor = createActor(laneMachine, { clock, input: { isPaced: mostOfOne === 1 } });
    actor.subscribe(() => {
      if (!this.#isStopped) onRoom();
    });
    actor.start();
    const lane = { actor, sending: 0 };
    this.#lanes.set(name, lane);
    return lane;
  }

  #take(ticket: Ticket, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason);
      };
      const begin = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting = { ticket, begin };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiting);
      this.#options.onRoom();
    });
  }
}

function byTurn({ ticket: one }: Waiting, { ticket: other }: Waiting): number {
  return (
    Number(one.isQuarantined) - Number(other.isQuarantined) ||
    one.expiresAt - other.expiresAt ||
    one.position - other.position
  );
}

/** A permanent refusal of one message does not count against other messages of the target. */
function note(
  { actor }: Lane,
  { position, isQuarantined }: Ticket,
  outcome: PostOutcome | UpdateOutcome | DeliveryFailure,
): void {
  if (outcome.kind !== 'failed' || outcome.fault === 'message' || outcome.fault === 'gone') {
    return actor.send({ type: 'message.taken' });
  }
  const retryAfter = outcome.fault === 'later' ? outcome.retryAfter : null;
  const isFresh = !isQuarantined;
  actor.send({ type: 'message.refused', message: position, retryAfter, isFresh });
}
