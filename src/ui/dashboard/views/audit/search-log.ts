import { type LogLine, logLine } from './log-line.ts';
import type { LogReader } from './read-log.ts';
import type { Wanted } from './wanted.ts';

/** What was found so far, newest last. */
export interface Found {
  lines: LogLine[];
  /** How many lines have been looked at, from the end. */
  searched: number;
  /** There is nothing more to look at, or enough was found. */
  over: boolean;
}

const enough = 200;

/** Looks a log through from its end, and tells what it has after each answer. Throws an ApiError. */
export async function* searchLog(
  reader: Pick<LogReader, 'read'>,
  wanted: Wanted,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  let lines: LogLine[] = [];
  let before: number | null = null;
  for (;;) {
    const { events, first, total, pruned } = await reader.read(enough, before, signal, wanted);
    lines = [...events.map(logLine), ...lines].slice(-enough);
    const isAtStart = first <= (pruned?.count ?? 0) + 1 || first === before;
    before = first;
    const over = isAtStart || lines.length >= enough;
    yield { lines, searched: total + 1 - first, over };
    if (over) return;
  }
}
