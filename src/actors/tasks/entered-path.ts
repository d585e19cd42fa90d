import type { EventObject, InspectedMicrostepEvent, SnapshotFrom, StateValue } from 'xstate';
import { type EnteredState, pathOf, wordOfEvent } from '../../machines/task/entered-state.ts';
import type { taskMachine } from '../../machines/task/task-machine.ts';

/**
 * The innermost states of the chart that a task has entered since its last commit, each with what led there. A state
 * that was left again in the same turn is among them.
 */
export class EnteredPath {
  #value: StateValue | null;
  #state: string | null;
  #entered: EnteredState[] = [];

  /** `value` is where the task stands on disk; `null` before a run. */
  constructor(value: StateValue | null) {
    this.#value = value;
    this.#state = value === null ? null : pathOf(value);
  }

  /** Takes in where the task stands, what led there, and since when, in epoch milliseconds. */
  see(value: StateValue, event: () => string, at: number): void {
    // Most transitions stay where they are, and keep the value.
    if (value === this.#value) return;
    this.#value = value;
    const state = pathOf(value);
    if (state === this.#state) return;
    this.#state = state;
    this.#entered.push({ state, event: event(), at });
  }

  /** Takes in one transition of the chart, at a time in epoch milliseconds. */
  moved(
    { snapshot, event, _transitions: [transition] }: InspectedMicrostepEvent,
    at: number,
  ): void {
    const { value } = snapshot as SnapshotFrom<typeof taskMachine>;
    const { type } = event as EventObject;
    const declared: unknown = transition?.eventType;
    this.see(value, () => wordOfEvent(type, typeof declared === 'string' ? declared : type), at);
  }

  /** Takes out what was entered since the last call. */
  take(): EnteredState[] {
    const entered = this.#entered;
    this.#entered = [];
    return entered;
  }
}
