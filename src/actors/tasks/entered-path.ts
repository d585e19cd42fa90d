import type { StateValue } from 'xstate';
import { type EnteredState, pathOf } from '../../machines/task/entered-state.ts';

/**
 * The innermost chart states entered since the task's last commit, with their events, including states left again
 * within the same turn.
 */
export class EnteredPath {
  #value: StateValue | null;
  #state: string | null;
  #entered: EnteredState[] = [];

  /** `value` is the stored state; `null` before a run. */
  constructor(value: StateValue | null) {
    this.#value = value;
    this.#state = value === null ? null : pathOf(value);
  }

  /** Processes a state, its event and its time in epoch milliseconds. */
  see(value: StateValue, event: () => string, at: number): void {
    // Most transitions do not change the state and keep the same value object.
    if (value === this.#value) return;
    this.#value = value;
    const state = pathOf(value);
    if (state === this.#state) return;
    this.#state = state;
    this.#entered.push({ state, event: event(), at });
  }

  /** Returns and clears the states entered since the last call. */
  take(): EnteredState[] {
    const entered = this.#entered;
    this.#entered = [];
    return entered;
  }
}
