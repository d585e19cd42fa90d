import type { StateValue } from 'xstate';

/** A state of the task chart that a task entered. */
export interface EnteredState {
  /** Dotted path of an innermost state, such as `working.executing.running`. */
  state: string;
  /** The event that led there, in the format of `wordOfEvent`. */
  event: string;
  /** Epoch milliseconds. */
  at: number;
}

/** The stored states that a task entered, oldest first. */
export interface StateHistory {
  states: EnteredState[];
  /** Number of states after the first one that are no longer stored. */
  leftOut: number;
  /** The chart version that last saved the task. */
  version: number;
}

/** Causes of a task's state other than an event of its chart. */
export const causes = {
  /** A message started the run. */
  begun: 'task.send',
  /** The daemon resumed the run after a restart. */
  resumed: 'service.resumed',
  /** An unexpected error stopped the chart. */
  crashed: 'task.crashed',
  /** The stored task could not be read. */
  unreadable: 'task.unreadable',
  /** The log was ahead of the store. */
  lost: 'store.lost',
} as const;

/** Returns the dotted path of a state value's innermost state; the task chart has no parallel states. */
export function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [[name, inner] = ['', undefined]] = Object.entries(value);
  return inner === undefined ? name : `${name}.${pathOf(inner)}`;
}

const doneActor = 'xstate.done.actor.';

/**
 * Names the cause of a transition: the chart's event, or `<state>.done` for the end of an invoked actor, such as
 * `thinking.done`. A run leaves its first state in the same step, when its message was screened.
 */
export function wordOfEvent(event: string): string {
  if (event === 'xstate.init') return 'prompt.screened';
  if (!event.startsWith(doneActor)) return event;
  return `${event.slice(event.lastIndexOf('.') + 1)}.done`;
}
