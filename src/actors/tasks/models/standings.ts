import { cooldownOf, isPassing } from '../../../machines/models/model-call.ts';
import type { ModelFailure } from './model-failure.ts';

interface Standing {
  /** Passing failures since the last answer. */
  failures: number;
  readyAt: number;
  /** The conversation of the last failure, and how often it failed in a row. */
  by: string;
  inARow: number;
  /** True when the provider has said for how long. */
  isAsked: boolean;
}

/** Which models are left alone, and until when; what one turn learns holds for all. */
export class Standings {
  readonly #standings = new Map<number, Standing>();
  readonly #tried = new Set<number>();

  /** Epoch milliseconds before which a model of the chain is left alone; 0 when it is not. */
  readyAt(index: number): number {
    return this.#standings.get(index)?.readyAt ?? 0;
  }

  /** Notes that a model has answered. */
  answered(index: number): void {
    this.#standings.delete(index);
  }

  /**
   * Lets one turn at a time ask a model that is left alone, unless the provider asked for that: what failed may have
   * been one conversation. Returns whether this turn may; `settle` ends it.
   */
  mayTry(index: number): boolean {
    if (this.#standings.get(index)?.isAsked === true || this.#tried.has(index)) return false;
    this.#tried.add(index);
    return true;
  }

  /** Ends what `mayTry` began. */
  settle(index: number): void {
    this.#tried.delete(index);
  }

  /**
   * Notes that a call to a model failed at a time, and returns until when this conversation leaves it alone, in epoch
   * milliseconds. A conversation that fails again counts once for all others.
   */
  failed(
    index: number,
    { fault, retryAfter }: ModelFailure,
    { at, by }: { at: number; by: string },
  ): number {
    if (!isPassing(fault)) return at;
    const before = this.#standings.get(index);
    const isAgain = before?.by === by;
    const failures = (before?.failures ?? 0) + (isAgain ? 0 : 1);
    const inARow = isAgain ? before.inARow + 1 : 1;
    const readyAt = at + cooldownOf(failures, retryAfter);
    this.#standings.set(index, { failures, readyAt, by, inARow, isAsked: retryAfter !== null });
    return at + cooldownOf(Math.max(failures, inARow), retryAfter);
  }
}
