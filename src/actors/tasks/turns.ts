import { setImmediate as turn } from 'node:timers/promises';

/**
 * Gives each caller its own event-loop turn, in order of arrival, so that other events wait for at most one of them.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves at the caller's turn. */
  next(): Promise<unknown> {
    this.#last = this.#last.then(() => turn());
    return this.#last;
  }
}
