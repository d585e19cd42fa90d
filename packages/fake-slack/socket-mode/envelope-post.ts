import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../src/actors/ports/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/machines/json.ts';
import type { Watch } from '../watch.ts';

/** An envelope sent over the socket, and its acknowledgement. */
export interface Envelope {
  id: string;
  type: string;
  payload: JsonObject;
  /** The number of deliveries so far. */
  deliveries: number;
  /** Epoch milliseconds of the first acknowledgement; `null` before. */
  ackedAt: number | null;
  /** True if the last delivery was not acknowledged. */
  isGivenUp: boolean;
  /** The payload of the acknowledgement; `null` if there is none. */
  answer: JsonObject | null;
}

/** Delivery settings; times are in milliseconds. */
export interface EnvelopePostOptions {
  clock: Clock;
  /** Time after which an unacknowledged envelope is resent. */
  ackWithin: number;
  /** Maximum number of deliveries of an envelope. */
  mostDeliveries: number;
  watch: Watch;
}

/** Delivers envelopes until they are acknowledged. */
export class EnvelopePost {
  /** Every envelope, oldest first. */
  readonly envelopes: Envelope[] = [];
  /** Number of upcoming envelopes to send twice. */
  doubled = 0;
  readonly #options: EnvelopePostOptions;
  readonly #send: (frame: string) => void;
  readonly #timers = new Set<unknown>();

  /** `send` writes a frame to the next connection. */
  constructor(options: EnvelopePostOptions, send: (frame: string) => void) {
    this.#options = options;
    this.#send = send;
  }

  /** Delivers an envelope. Rejects after the maximum number of deliveries. */
  async deliver(type: string, payload: JsonObject, takesAnswer: boolean): Promise<Envelope> {
    const envelope: Envelope = {
      id: randomUUID(),
      type,
      payload,
      deliveries: 0,
      ackedAt: null,
      isGivenUp: false,
      answer: null,
    };
    this.envelopes.push(envelope);
    const times = this.doubled > 0 ? 2 : 1;
    this.doubled -= times - 1;
    for (let time = 0; time < times; time += 1) this.#sendOnce(envelope, takesAnswer);
    await this.#options.watch.until(() => isOver(envelope) || undefined);
    if (envelope.isGivenUp) throw new Error(`nobody acknowledged the ${type} envelope`);
    return envelope;
  }

  /** Handles a frame from the app. Only the first acknowledgement of an envelope counts. */
  hear(frame: string): void {
    const { envelope_id: id, payload } = parse(frame);
    const envelope = this.envelopes.find((each) => each.id === id);
    if (envelope === undefined || envelope.ackedAt !== null) return;
    envelope.ackedAt = this.#options.clock.now();
    envelope.answer = isJsonObject(payload) && Object.keys(payload).length > 0 ? payload : null;
    this.#options.watch.look();
  }

  /** Clears all timers. */
  close(): void {
    for (const timer of this.#timers) this.#options.clock.clearTimeout(timer);
    this.#timers.clear();
  }

  #sendOnce(envelope: Envelope, takesAnswer: boolean): void {
    const { clock, ackWithin, mostDeliveries, watch } = this.#options;
    const { id, type, payload, deliveries } = envelope;
    const frame = {
      envelope_id: id,
      payload,
      type,
      accepts_response_payload: takesAnswer,
      ...(type === 'events_api' && {
        retry_attempt: deliveries,
        retry_reason: deliveries === 0 ? '' : 'timeout',
      }),
    };
    this.#send(JSON.stringify(frame));
    envelope.deliveries += 1;
    const timer = clock.setTimeout(() => {
      this.#timers.delete(timer);
      if (isOver(envelope)) return;
      envelope.isGivenUp = envelope.deliveries >= mostDeliveries;
      if (envelope.isGivenUp) watch.look();
      else this.#sendOnce(envelope, takesAnswer);
    }, ackWithin);
    this.#timers.add(timer);
  }
}

function isOver({ ackedAt, isGivenUp }: Envelope): boolean {
  return ackedAt !== null || isGivenUp;
}

function parse(frame: string): JsonObject {
  try {
    const heard = JSON.parse(frame) as JsonValue;
    return isJsonObject(heard) ? heard : {};
  } catch {
    return {};
  }
}
