import type { Log } from '../../ports/log.ts';

/** Minimum time between two log lines, in milliseconds, so that repeated requests cannot flood the log. */
const pause = 5_000;

/** Logs that a provider is unavailable, at most once in five seconds. */
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
      'authentication: a provider cannot be reached',
    );
  }
}
