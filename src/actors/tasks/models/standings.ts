import { cooldownOf, isPassing } from '../../../machines/models/model-call.ts';
import type { ModelFailure } from './model-failure.ts';

interface Standing {
  /** Passing failures since the last answer. */
  failures: number;
  readyAt: number;
}

/** Which models are left alone, and until when; what one turn learns holds for all. */
export class Standings {
  readonly #standings = new Map<number, Standing>();

  /** Epoch milliseconds before which a model of the chain is left alone; 0 when it is not. */
  readyAt(index: number): number {
    return this.#standings.get(index)?.readyAt ?? 0;
  }

  /** Notes that a model has answered. */
  answered(index: number): void {
    this.#standings.delete(index);
  }

  /** Notes that a call to a model failed at a time, and returns until when it is left alone, in epoch milliseconds. */
  failed(index: number, { fault, retryAfter }: ModelFailure, at: number): number {
    if (!isPassing(fault)) return at;
    const failures = (this.#standings.get(index)?.failures ?? 0) + 1;
    const readyAt = at + cooldownOf(failures, retryAfter);
    this.#standings.set(index, { failures, readyAt });
    return readyAt;
  }
}
