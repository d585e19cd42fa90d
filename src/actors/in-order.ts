/**
 * Runs what concerns one thing one after the other, in the order in which it was asked for. Two things never wait for
 * each other.
 */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Returns whether anything that concerns a thing is under way, or waits for its turn. */
  isBusy(thing: string): boolean {
    return this.#last.has(thing);
  }

  /** Runs something when its turn comes, at once when nothing is before it. Resolves or rejects as it does. */
  run<Result>(thing: string, run: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(thing);
    const running = before === undefined ? run() : before.then(run);
    const leave = (): void => {
      if (this.#last.get(thing) === over) this.#last.delete(thing);
    };
    const over: Promise<void> = running.then(leave, leave);
    this.#last.set(thing, over);
    return running;
  }

  /** Resolves once nothing is under way. Never rejects. */
  async over(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
