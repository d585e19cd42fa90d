import { isFinal } from '../../machines/domain/task.ts';
import { formatDuration } from '../../machines/duration.ts';
import type { Output } from '../output.ts';
import { plainLine } from '../plain-text.ts';
import type { StateJson, TaskJson } from './read-answer.ts';

/**
 * Formats the states of a task as a table, one per line: entry time, state, duration, and transition. The duration of
 * the current state runs until `now`, in epoch milliseconds.
 */
export function stateLines({ colours }: Output, { metadata }: TaskJson, now: number): string[] {
  const { states = [], states_left_out: leftOut = 0 } = metadata ?? {};
  const rows = states.map((row, index) => ({
    ...row,
    // If earlier states are omitted, the duration of the first one is unknown.
    spent: leftOut > 0 && index === 0 ? '' : timeIn(row, states[index + 1], now),
  }));
  const widest = (texts: string[]) => Math.max(0, ...texts.map((text) => text.length));
  const stateWidth = widest(rows.map(({ state }) => plainLine(state)));
  const spentWidth = widest(rows.map(({ spent }) => spent));
  const lines = rows.map(({ state, event, entered_at, spent }) =>
    [
      `  ${plainLine(entered_at)}`,
      plainLine(state).padEnd(stateWidth),
      spent.padStart(spentWidth),
      colours.dim(plainLine(event)),
    ].join('  '),
  );
  if (leftOut > 0) lines.splice(1, 0, `  … ${leftOut} older states are no longer stored`);
  return lines;
}

function timeIn(
  { state, entered_at }: StateJson,
  next: StateJson | undefined,
  now: number,
): string {
  if (next === undefined && isFinal(state)) return '';
  const left = next === undefined ? now : Date.parse(next.entered_at);
  const spent = left - Date.parse(entered_at);
  if (Number.isNaN(spent)) return '';
  if (next === undefined) return `${inWords(Math.max(0, spent))} so far`;
  return inWords(Math.max(0, spent));
}

function inWords(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return formatDuration(Math.floor(milliseconds / 1_000) * 1_000);
}
