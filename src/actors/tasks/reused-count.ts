/** Minimum time in milliseconds for which an expensive count is reused. */
const reuse = 15_000;

/** Counting takes at most this part of the time. */
const share = 1 / 100;

/**
 * Reuses an expensive count for 15 seconds or 100 times its duration, and renews it in the background. Concurrent readers
 * share one count. An inexpensive count is always a new one.
 */
export class ReusedCount<Count> {
  readonly #count: () => Promise<Count>;
  readonly #isExpensive: (count: Count) => boolean;
  readonly #now: () => number;
  #last: { count: Count; until: number } | null = null;
  #counting: Promise<Count> | null = null;

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(
    count: () => Promise<Count>,
    isExpensive: (count: Count) => boolean,
    now: () => number,
  ) {
    this.#count = count;
    this.#isExpensive = isExpensive;
    this.#now = now;
  }

  /** True while the last count is reused. */
  get isReused(): boolean {
    return this.#last !== null && this.#isExpensive(this.#last.count);
  }

  /** Returns the count. Rejects if it cannot be read and there is no earlier one to reuse. */
  now(): Promise<Count> {
    const last = this.#last;
    if (last === null || !this.#isExpensive(last.count)) return this.#renew();
    if (this.#now() >= last.until) void this.#renew().catch(() => undefined);
    return Promise.resolve(last.count);
  }

  #renew(): Promise<Count> {
    const began = this.#now();
    this.#counting ??= this.#count()
      .then((count) => {
        const at = this.#now();
        this.#last = { count, until: at + Math.max(reuse, (at - began) / share) };
        return count;
      })
      .finally(() => {
        this.#counting = null;
      });
    return this.#counting;
  }
}
