import type { Log } from '../../ports.ts';

/** Callers who keep coming must not fill the log: one line in this time, in milliseconds. */
const pause = 5_000;

/** Logs that a provider cannot be asked, at most once in five seconds. */
export class OutageLog {
  readonly #provider: string;
  readonly #log: Log;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(provider: string, log: Log) {
    this.#provider = provider;
    this.#log = log;
  }

  note(error: Error): void {
    const now = performance.now();
    if (now - this.#loggedAt < pause) return;
    this.#loggedAt = now;
    this.#log.warn(
      { provider: this.#provider, error: error.message },
      'authentication: a provider cannot be asked',
    );
  }
}
