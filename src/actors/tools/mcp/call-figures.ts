import type { CallFigures } from '../../ports/mcp-servers.ts';

/** Number of calls of which the median is taken. */
const latest = 100;

/** Counts the calls of a server since the daemon was started. */
export class CallCounts {
  #calls = 0;
  #failures = 0;
  #total = 0;
  readonly #latest: number[] = [];

  add(took: number, hasFailed: boolean): void {
    this.#calls += 1;
    if (hasFailed) this.#failures += 1;
    this.#total += took;
    this.#latest.push(took);
    if (this.#latest.length > latest) this.#latest.shift();
  }

  get figures(): CallFigures {
    const sorted = this.#latest.toSorted((one, other) => one - other);
    const median = sorted[Math.floor(sorted.length / 2)] ?? null;
    return { calls: this.#calls, failures: this.#failures, total: this.#total, median };
  }
}
