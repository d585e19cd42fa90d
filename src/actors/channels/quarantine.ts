import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';

/** Messages of one lane that may be in quarantine at once. */
export const longestQuarantine = 64;

/**
 * Rows that failed. They are retried apart, without holding up other messages of their target; beyond a limit they wait
 * in the store, so that a dead target fills no memory.
 */
export class Quarantine {
  readonly #lanes = new Map<number, string>();
  readonly #isPaced: boolean;

  /** `isPaced` is true where a service that asks for time says nothing against its message. */
  constructor(isPaced: boolean) {
    this.#isPaced = isPaced;
  }

  has(position: number): boolean {
    return this.#lanes.has(position);
  }

  /** Quarantines a row that failed, as far as its lane has room for it. */
  failed(position: number, lane: string, failure: DeliveryFailure): void {
    if (this.#isPaced && asksForTime(failure)) return;
    const others = [...this.#lanes.values()].filter((other) => other === lane);
    if (others.length < longestQuarantine) this.#lanes.set(position, lane);
  }

  /** Forgets a row that was told, or is no longer tried. */
  forget(position: number): void {
    this.#lanes.delete(position);
  }
}

/** Tells whether a service only asks for time, such as with 429 and `Retry-After`. */
export function asksForTime({ fault, retryAfter }: DeliveryFailure): boolean {
  return fault === 'later' && retryAfter !== null;
}
