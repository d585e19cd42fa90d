import type { Clock } from '../../ports.ts';

/** Lets through as much as is refilled over time, with a store that may be spent at once. */
export class FloodGate {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, 'now'>;
  #left: number;
  #at: number;

  constructor(limit: { burst: number; perSecond: number }, clock: Pick<Clock, 'now'>) {
    this.#burst = limit.burst;
    this.#perSecond = limit.perSecond;
    this.#clock = clock;
    this.#left = limit.burst;
    this.#at = clock.now();
  }

  /** Takes so much, and tells whether it was there. */
  takes(amount: number): boolean {
    const now = this.#clock.now();
    const refilled = this.#left + ((now - this.#at) / 1000) * this.#perSecond;
    this.#left = Math.min(this.#burst, refilled) - amount;
    this.#at = now;
    return this.#left >= 0;
  }
}
