import type { Log } from '../../ports.ts';

/** What an outage is told with. */
export interface OutageParts {
  log: Log;
  /** What is said when it begins, and when it is over. */
  begins: string;
  ends: string;
  /** Puts a failure into a sentence. */
  explain: (error: unknown) => string;
}

/** Sentences about one outage at most. */
const mostSentences = 10;

/** Says once that something fails, once for each reason, and once that it works again, however often these are seen. */
export class OutageNotice {
  readonly #parts: OutageParts;
  /** What was said since it failed. */
  readonly #said = new Set<string>();

  constructor(parts: OutageParts) {
    this.#parts = parts;
  }

  /** Takes in a failure. */
  failed(error: unknown): void {
    const { log, begins, explain } = this.#parts;
    const reason = explain(error);
    if (this.#said.has(reason) || this.#said.size === mostSentences) return;
    this.#said.add(reason);
    log.warn({ error: reason }, begins);
  }

  /** Takes in that it works. */
  worked(): void {
    if (this.#said.size === 0) return;
    this.#said.clear();
    this.#parts.log.info({}, this.#parts.ends);
  }
}
