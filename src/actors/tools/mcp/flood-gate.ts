import type { Clock } from '../../ports/clock.ts';

/** Rate limiter (token bucket): refills over time, up to a burst size. */
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

  /** Consumes an amount, and returns whether it was available. */
  takes(amount: number): boolean {
    const now = this.#clock.now();
    const refilled = this.#left + ((now - this.#at) / 1000) * this.#perSecond;
    this.#left = Math.min(this.#burst, refilled) - amount;
    this.#at = now;
    return this.#left >= 0;
  }
}
