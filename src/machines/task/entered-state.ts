import type { StateValue } from 'xstate';

/** A state of the task chart that a task has entered. */
export interface EnteredState {
  /** The dotted path of an innermost state, such as `working.executing.running`. */
  state: string;
  /** What led there, in the words of `wordOfEvent`. */
  event: string;
  /** Epoch milliseconds. */
  at: number;
}

/** The states that a task has entered, oldest first, as far as they are kept. */
export interface StateHistory {
  states: EnteredState[];
  /** How many after the first one are not kept any more. */
  leftOut: number;
  /** The version of the chart that saved the task last. */
  version: number;
}

/** What led to a state of a task without an event of its chart. */
export const causes = {
  /** A message began the run. */
  begun: 'task.send',
  /** The daemon went on with the run after a restart. */
  resumed: 'service.resumed',
  /** A defect stopped the chart. */
  crashed: 'task.crashed',
  /** What was kept of the task could not be read. */
  unreadable: 'task.unreadable',
  /** The log knew of more than the store. */
  lost: 'store.lost',
} as const;

/** Returns the dotted path of the innermost state of a state value; the task chart has no parallel states. */
export function pathOf(value: StateValue): string {
  if (typeof value === 'string') return value;
  const [[name, inner] = ['', undefined]] = Object.entries(value);
  return inner === undefined ? name : `${name}.${pathOf(inner)}`;
}

const doneActor = 'xstate.done.actor.';

/**
 * Names what caused a transition: the event of the chart, `<state>.done` for the end of what a state invoked, such as
 * `thinking.done`, and `always` for a transition that needs no event (`descriptor` is empty then).
 */
export function wordOfEvent(event: string, descriptor: string): string {
  if (descriptor === '') return 'always';
  if (!event.startsWith(doneActor)) return event;
  return `${event.slice(event.lastIndexOf('.') + 1)}.done`;
}
