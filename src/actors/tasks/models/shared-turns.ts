/**
 * Shares the event loop among long-running readers: a fixed number continue in each turn, the others wait in order of
 * arrival, and other events are handled in between.
 */
export class SharedTurns {
  readonly #atOnce: number;
  readonly #waiting: (() => void)[] = [];
  #left: number;
  #isCounting = false;

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
    this.#left = atOnce;
  }

  /** Returns `null` if the caller may continue now, else a promise that resolves at its turn. */
  next(): Promise<void> | null {
    this.#count();
    if (this.#left === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#left -= 1;
    return null;
  }

  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      const released = this.#waiting.splice(0, this.#atOnce);
      this.#left = this.#atOnce - released.length;
      if (released.length > 0) this.#count();
      for (const goOn of released) goOn();
    });
  }
}
