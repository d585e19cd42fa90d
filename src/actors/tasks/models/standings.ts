import { cooldownOf, isPassing } from '../../../machines/models/model-call.ts';
import type { ModelFailure } from './model-failure.ts';

interface Standing {
  /** Transient failures since the last answer. */
  failures: number;
  readyAt: number;
  /** The conversation of the last failure, and its number of consecutive failures. */
  by: string;
  inARow: number;
  /** True if the provider named the delay. */
  isAsked: boolean;
}

/** Cooldowns of models, shared by all turns. */
export class Standings {
  readonly #standings = new Map<number, Standing>();
  readonly #tried = new Set<number>();

  /** Returns the end of a model's cooldown in epoch milliseconds; 0 if there is none. */
  readyAt(index: number): number {
    return this.#standings.get(index)?.readyAt ?? 0;
  }

  /** Records an answer of a model. */
  answered(index: number): void {
    this.#standings.delete(index);
  }

  /**
   * Lets one turn at a time call a model during its cooldown, unless the provider asked for the delay: the failure may
   * have concerned a single conversation. Returns whether this turn may; `settle` ends the attempt.
   */
  mayTry(index: number): boolean {
    if (this.#standings.get(index)?.isAsked === true || this.#tried.has(index)) return false;
    this.#tried.add(index);
    return true;
  }

  /** Ends an attempt allowed by `mayTry`. */
  settle(index: number): void {
    this.#tried.delete(index);
  }

  /**
   * Records a failed call, and returns the end of the model's cooldown for this conversation, in epoch milliseconds.
   * For other conversations, repeated failures of one conversation count once.
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
