/** The refill rate of a bucket and its capacity. */
export interface Refill {
  /** Tokens per second; greater than zero. */
  rate: number;
  /** Capacity of the bucket; at least 1. */
  burst: number;
}

/** A token bucket that refills over time. It starts full. */
export class TokenBucket {
  readonly #refill: Refill;
  #tokens: number;
  #filledAt: number;

  /** `now` is in milliseconds, on the same clock as the argument of `take`. */
  constructor(refill: Refill, now: number) {
    this.#refill = refill;
    this.#tokens = refill.burst;
    this.#filledAt = now;
  }

  /** Takes a token and returns 0, or takes none and returns the seconds until one is available. */
  take(now: number): number {
    const { rate, burst } = this.#refill;
    const elapsed = Math.max(0, now - this.#filledAt) / 1_000;
    this.#tokens = Math.min(burst, this.#tokens + elapsed * rate);
    this.#filledAt = Math.max(this.#filledAt, now);
    if (this.#tokens < 1) return (1 - this.#tokens) / rate;
    this.#tokens -= 1;
    return 0;
  }

  /** Returns a token that was not used. */
  giveBack(): void {
    this.#tokens = Math.min(this.#refill.burst, this.#tokens + 1);
  }
}
