import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';

/** Maximum quarantined messages of one lane. */
export const longestQuarantine = 64;

/**
 * Rows that failed. They are retried separately and do not block other messages of their target. Beyond the limit they
 * wait in the store, so a dead target cannot fill the memory.
 */
export class Quarantine {
  readonly #lanes = new Map<number, string>();
  readonly #isPaced: boolean;

  /** `isPaced` is true if a service that asks for time does not count as a failure of the message. */
  constructor(isPaced: boolean) {
    this.#isPaced = isPaced;
  }

  has(position: number): boolean {
    return this.#lanes.has(position);
  }

  /** Quarantines a failed row if its lane has room. */
  failed(position: number, lane: string, failure: DeliveryFailure): void {
    if (this.#isPaced && asksForTime(failure)) return;
    const others = [...this.#lanes.values()].filter((other) => other === lane);
    if (others.length < longestQuarantine) this.#lanes.set(position, lane);
  }

  /** Removes a row that was delivered or is no longer retried. */
  forget(position: number): void {
    this.#lanes.delete(position);
  }
}

/** Returns whether the service only asks for time, such as with 429 and `Retry-After`. */
export function asksForTime({ fault, retryAfter }: DeliveryFailure): boolean {
  return fault === 'later' && retryAfter !== null;
}
