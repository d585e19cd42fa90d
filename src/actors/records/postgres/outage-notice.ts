import type { Log } from '../../ports/log.ts';

/** Parameters of outage logging. */
export interface OutageParts {
  log: Log;
  /** Log messages for the start and the end of an outage. */
  begins: string;
  ends: string;
  /** Converts a failure to a sentence. */
  explain: (error: unknown) => string;
}

/** Maximum log lines about one outage. */
const mostSentences = 10;

/** Logs an outage once for each distinct reason, and its end once, however often they are reported. */
export class OutageNotice {
  readonly #parts: OutageParts;
  /** Reasons logged since the outage began. */
  readonly #said = new Set<string>();

  constructor(parts: OutageParts) {
    this.#parts = parts;
  }

  /** Reports a failure. */
  failed(error: unknown): void {
    const { log, begins, explain } = this.#parts;
    const reason = explain(error);
    if (this.#said.has(reason) || this.#said.size === mostSentences) return;
    this.#said.add(reason);
    log.warn({ error: reason }, begins);
  }

  /** Reports a success. */
  worked(): void {
    if (this.#said.size === 0) return;
    this.#said.clear();
    this.#parts.log.info({}, this.#parts.ends);
  }
}
