/** Milliseconds for which an expensive count is reused. */
const reuse = 15_000;

/**
 * Reuses an expensive count for some seconds, and renews it in the background. Concurrent readers share one count. An
 * inexpensive count is always a new one.
 */
export class ReusedCount<Count> {
  readonly #count: () => Promise<Count>;
  readonly #isExpensive: (count: Count) => boolean;
  readonly #now: () => number;
  #last: { count: Count; at: number } | null = null;
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
    if (this.#now() - last.at >= reuse) void this.#renew().catch(() => undefined);
    return Promise.resolve(last.count);
  }

  #renew(): Promise<Count> {
    this.#counting ??= this.#count()
      .then((count) => {
        this.#last = { count, at: this.#now() };
        return count;
      })
      .finally(() => {
        this.#counting = null;
      });
    return this.#counting;
  }
}
