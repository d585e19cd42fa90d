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
    this.#log.warn({ error: reasonOf(error) }, `${this.#what} cannot be asked`);
  }

  /** Takes in that it works. */
  worked(): void {
    if (!this.#isOut) return;
    this.#isOut = false;
    this.#log.info({}, `${this.#what} can be asked again`);
  }
}

/** The job engine tells of an error as an object that is none. */
function reasonOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === 'string' ? message : String(error);
}
