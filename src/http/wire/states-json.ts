import type { StateHistory } from '../../machines/task/entered-state.ts';
import type { Task } from '../../machines/task/task.ts';
import { timestamp } from './timestamp.ts';

/** The way of a task through its chart (docs/contract/transports.md). */
export interface StatesJson {
  /** Where it stands, as the dotted path of an innermost state. */
  statechart: { version: number; value: string };
  /** The states that it has entered, oldest first. */
  states: { state: string; event: string; entered_at: string }[];
  /** The number of states after the first one that are not kept any more. */
  states_left_out?: number;
}

/** Presents the way of a task; of one that an earlier version saved, where it stands is known alone. */
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
