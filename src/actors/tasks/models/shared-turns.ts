/**
 * Lets those who have much to do share the event loop: so many go on in one turn of it, the others wait for the next
 * turns in the order in which they came, and whatever else arrives is served in between.
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

  /** Returns `null` to whoever may go on now, and to anyone else a promise that resolves when it is their turn. */
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
