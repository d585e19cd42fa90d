import type { Measured } from '../actors/tasks/tasks.ts';

type Call = Extract<Measured, { type: 'call' }>;
type Wait = Extract<Measured, { type: 'wait' }>;

/** Ended waits that are kept; whoever keeps more takes them away. */
const mostWaits = 1_000;

/** Counts what ends in tasks until somebody asks, so that the metrics library need not be loaded for it. */
export class MeasuredCounts {
  readonly #calls = new Map<string, Call & { count: number }>();
  #waits: Wait[] = [];

  /** Takes in what has ended; true when the waits are to be taken before more of them come. */
  hear(measured: Measured): boolean {
    if (measured.type === 'wait') return this.#waits.push(measured) >= mostWaits;
    const key = `${measured.outcome} ${measured.tool}`;
    this.#calls.set(key, { ...measured, count: (this.#calls.get(key)?.count ?? 0) + 1 });
    return false;
  }

  /** How many calls of each tool have ended, and how. */
  calls(): Iterable<Readonly<Call & { count: number }>> {
    return this.#calls.values();
  }

  /** Returns the waits that have ended since the last time. */
  takeWaits(): Wait[] {
    const waits = this.#waits;
    this.#waits = [];
    return waits;
  }
}
