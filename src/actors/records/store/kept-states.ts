import type { EnteredState, StateHistory } from '../../../machines/task/entered-state.ts';

/** Maximum stored states of one task: the first one and the latest. */
export const mostStates = 500;

/** A state in compact storage format. */
type KeptState = [state: string, event: string, at: number];

/** The states added by one commit; `first` is the number of the first one, from 1. */
export interface KeptStates {
  first: number;
  entered: number;
  states: string;
}

/** Serialises states for a row. */
export function writeStates(entered: readonly EnteredState[]): string {
  return JSON.stringify(entered.map(({ state, event, at }): KeptState => [state, event, at]));
}

/** Assembles the states of a task from its rows, oldest first; `version` is its chart version. */
export function historyOf(rows: readonly KeptStates[], version: number): StateHistory {
  const last = rows.reduce((most, { first, entered }) => Math.max(most, first + entered - 1), 0);
  const leftOut = Math.max(0, last - mostStates);
  const states = rows.flatMap((row) =>
    (JSON.parse(row.states) as KeptState[])
      .map(([state, event, at]) => ({ state, event, at }))
      .filter((_, index) => {
        const number = row.first + index;
        return number === 1 || number > leftOut + 1;
      }),
  );
  return { states, leftOut, version };
}
