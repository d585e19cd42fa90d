import type { Clock } from '../../ports/clock.ts';

/** Time limits of a call, in milliseconds. */
export interface CallLimits {
  /** From its start, and from each progress report, to its result. */
  timeout: number;
  /** From its start to its result, regardless of progress. */
  total: number;
  /** Wait for a disconnected server. */
  connect: number;
}

/** The time that a call has. */
export class CallDeadline {
  readonly #clock: Clock;
  readonly #late = new AbortController();
  readonly #total: unknown;
  readonly #timeout: number;
  #timer: unknown;
  /** True once only the total time counts, or none. */
  #isRelaxed = false;
  /** Number of waits for a person, during which only the total time counts. */
  #pauses = 0;

  /** A `timeout` of `null` leaves `total` alone. */
  constructor(clock: Clock, { timeout, total }: { timeout: number | null; total: number }) {
    this.#clock = clock;
    this.#total = clock.setTimeout(this.#expire, total);
    this.#timeout = timeout ?? total;
    if (timeout !== null) this.moved();
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    return this.#late.signal;
  }

  /** The server has reported progress. */
  moved(): void {
    if (this.#isRelaxed || this.#pauses > 0) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(this.#expire, this.#timeout);
  }

  /** From now on only the total time counts. */
  relax(): void {
    this.#isRelaxed = true;
    this.#clock.clearTimeout(this.#timer);
  }

  /** Runs something that waits for a person; meanwhile only the total time counts. */
  async paused<Result>(run: () => Promise<Result>): Promise<Result> {
    this.#pauses += 1;
    this.#clock.clearTimeout(this.#timer);
    try {
      return await run();
    } finally {
      this.#pauses -= 1;
      this.moved();
    }
  }

  /** The call has ended. */
  end(): void {
    this.relax();
    this.#clock.clearTimeout(this.#total);
  }

  readonly #expire = (): void => this.#late.abort();
}
