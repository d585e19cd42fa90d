import type { Measured } from '../actors/tasks/tasks.ts';

type Call = Extract<Measured, { type: 'call' }>;
type Wait = Extract<Measured, { type: 'wait' }>;

/** Maximum number of ended waits kept. */
const mostWaits = 1_000;

/** Counts ended calls and waits until the first request for metrics, which loads the metrics library. */
export class MeasuredCounts {
  readonly #calls = new Map<string, Call & { count: number }>();
  #waits: Wait[] = [];

  /** Counts a measurement; returns true when the waits need to be taken before more arrive. */
  hear(measured: Measured): boolean {
    if (measured.type === 'wait') return this.#waits.push(measured) >= mostWaits;
    const key = `${measured.outcome} ${measured.tool}`;
    this.#calls.set(key, { ...measured, count: (this.#calls.get(key)?.count ?? 0) + 1 });
    return false;
  }

  /** Ended calls by tool and outcome. */
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
