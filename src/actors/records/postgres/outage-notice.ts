import type { Log } from '../../ports.ts';

/** Says once that something fails, and once that it works again, however often either is seen. */
export class OutageNotice {
  readonly #log: Log;
  readonly #what: string;
  #isOut = false;

  /** @param what what fails, as the beginning of a sentence */
  constructor(log: Log, what: string) {
    this.#log = log;
    this.#what = what;
  }

  /** Takes in a failure. */
  failed(error: unknown): void {
    if (this.#isOut) return;
    this.#isOut = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#log.warn({ error: reason }, `${this.#what} cannot be asked`);
  }

  /** Takes in that it works. */
  worked(): void {
    if (!this.#isOut) return;
    this.#isOut = false;
    this.#log.info({}, `${this.#what} can be asked again`);
  }
}
