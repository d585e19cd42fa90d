import type { Clock } from '../../ports.ts';

/** A clock that goes by the time of a server, and on its own between two looks at it; it is never put back. */
export class ServerClock implements Clock {
  readonly #base: Clock;
  /** Milliseconds by which the server is ahead of the base. */
  #ahead = 0;
  #last = 0;

  /** @param base is this machine's, and has the timers */
  constructor(base: Clock) {
    this.#base = base;
  }

  /** Takes in what time it is at the server, in epoch milliseconds. */
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
