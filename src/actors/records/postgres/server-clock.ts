import type { Clock } from '../../ports/clock.ts';

/** A clock that follows a server's time and advances on its own between updates; never goes back. */
export class ServerClock implements Clock {
  readonly #base: Clock;
  /** Milliseconds by which the server is ahead of the base clock. */
  #ahead = 0;
  #last = 0;

  /** @param base this machine's clock, which provides the timers */
  constructor(base: Clock) {
    this.#base = base;
  }

  /** Sets the server's current time, in epoch milliseconds. */
  set(serverTime: number): void {
    this.#ahead = serverTime - this.#base.now();
  }

  now(): number {
    this.#last = Math.max(this.#last, Math.round(this.#base.now() + this.#ahead));
    return this.#last;
  }

  setTimeout(run: () => void, milliseconds: number): unknown {
    return this.#base.setTimeout(run, milliseconds);
  }

  clearTimeout(handle: unknown): void {
    this.#base.clearTimeout(handle);
  }
}
