import type { StateHistory } from '../../machines/task/entered-state.ts';
import type { Task } from '../../machines/task/task.ts';
import { timestamp } from './timestamp.ts';

/** A task's path through its chart (docs/contract/transports.md). */
export interface StatesJson {
  /** The current position, as the dotted path of an innermost state. */
  statechart: { version: number; value: string };
  /** The states that the task has entered, oldest first. */
  states: { state: string; event: string; entered_at: string }[];
  /** Number of states after the first one that are no longer stored. */
  states_left_out?: number;
}

/** Formats a task's path. For a task saved by an earlier version, only the current position is known. */
export function presentStates(
  { state, stage }: Task,
  { states, leftOut, version }: StateHistory,
): StatesJson {
  const value = states.at(-1)?.state ?? (stage === null ? state : `${state}.${stage}`);
  return {
    statechart: { version, value },
    states: states.map(({ state, event, at }) => ({ state, event, entered_at: timestamp(at) })),
    ...(leftOut === 0 ? {} : { states_left_out: leftOut }),
  };
}
