import type { EnteredState, StateHistory } from '../../../machines/task/entered-state.ts';

/** Most states kept of one task: the first one, and the latest. */
export const mostStates = 500;

/** A state as a row has it, which names nothing twice. */
type KeptState = [state: string, event: string, at: number];

/** The states that one commit added; `first` is the number of the first of them, counted from 1. */
export interface KeptStates {
  first: number;
  entered: number;
  states: string;
}

/** Writes states as a row has them. */
export function writeStates(entered: readonly EnteredState[]): string {
  return JSON.stringify(entered.map(({ state, event, at }): KeptState => [state, event, at]));
}

/** Puts the states of a task together from its rows, oldest first; `version` is that of its chart. */
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
