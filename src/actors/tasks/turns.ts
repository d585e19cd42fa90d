import { setImmediate as turn } from 'node:timers/promises';

/**
 * Gives each of those who ask a turn of the event loop of its own, in the order in which they asked, so that
 * whatever else arrives meanwhile waits for one of them at most.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves when it is the caller's turn. */
  next(): Promise<unknown> {
    this.#last = this.#last.then(() => turn());
    return this.#last;
  }
}
