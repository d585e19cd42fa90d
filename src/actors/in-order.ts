/**
 * Runs operations with the same key one after the other, in the order of the calls. Operations with different keys
 * never wait for each other.
 */
export class InOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Returns whether an operation of a key is running or queued. */
  isBusy(thing: string): boolean {
    return this.#last.has(thing);
  }

  /** Runs an operation after all earlier ones of its key. Settles like the operation. */
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

  /** Resolves once no operation is running. Never rejects. */
  async over(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values());
  }
}
