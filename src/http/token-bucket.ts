/** The refill rate of a bucket and its capacity. */
export interface Refill {
  /** Tokens a second; above zero. */
  rate: number;
  /** A bucket that is full holds so many; at least 1. */
  burst: number;
}

/** A store of tokens that refills with time; it is full at the beginning. */
export class TokenBucket {
  readonly #refill: Refill;
  #tokens: number;
  #filledAt: number;

  /** `now` is in milliseconds, on the scale that `take` is called with. */
  constructor(refill: Refill, now: number) {
    this.#refill = refill;
    this.#tokens = refill.burst;
    this.#filledAt = now;
  }

  /** Takes a token and answers 0, or takes none and answers the seconds until there is one. */
  take(now: number): number {
    const { rate, burst } = this.#refill;
    const elapsed = Math.max(0, now - this.#filledAt) / 1_000;
    this.#tokens = Math.min(burst, this.#tokens + elapsed * rate);
    this.#filledAt = Math.max(this.#filledAt, now);
    if (this.#tokens < 1) return (1 - this.#tokens) / rate;
    this.#tokens -= 1;
    return 0;
  }

  /** Puts a token back that was taken for nothing. */
  giveBack(): void {
    this.#tokens = Math.min(this.#refill.burst, this.#tokens + 1);
  }
}
