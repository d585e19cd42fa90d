import type { EventObject, InspectedMicrostepEvent, SnapshotFrom, StateValue } from 'xstate';
import { type EnteredState, pathOf, wordOfEvent } from '../../machines/task/entered-state.ts';
import type { taskMachine } from '../../machines/task/task-machine.ts';

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

  /** Processes a transition of the chart at a time in epoch milliseconds. */
  moved(
    { snapshot, event, _transitions: [transition] }: InspectedMicrostepEvent,
    at: number,
  ): void {
    const { value } = snapshot as SnapshotFrom<typeof taskMachine>;
    const { type } = event as EventObject;
    const declared: unknown = transition?.eventType;
    this.see(value, () => wordOfEvent(type, typeof declared === 'string' ? declared : type), at);
  }

  /** Returns and clears the states entered since the last call. */
  take(): EnteredState[] {
    const entered = this.#entered;
    this.#entered = [];
    return entered;
  }
}
