import { type LogLine, logLine } from './log-line.ts';
import type { LogReader } from './read-log.ts';
import type { Wanted } from './wanted.ts';

/** The matches so far, newest last. */
export interface Found {
  lines: LogLine[];
  /** Number of lines searched, from the end. */
  searched: number;
  /** True if all lines were searched or enough were found. */
  over: boolean;
}

const enough = 200;

/** Searches a log from its end and yields the matches after each response. Throws ApiError. */
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
