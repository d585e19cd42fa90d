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
  /** True if older lines are left to search. */
  more: boolean;
}

const enough = 200;

/**
 * Searches a log backwards from line `end`, `null` for its end, and yields the matches after each response. Throws
 * ApiError.
 */
export async function* searchLog(
  reader: Pick<LogReader, 'read'>,
  wanted: Wanted,
  end: number | null,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  let lines: LogLine[] = [];
  let before = end;
  for (;;) {
    const { events, first, total, pruned } = await reader.read(enough, before, signal, wanted);
    const all = [...events.map(logLine), ...lines];
    lines = all.slice(-enough);
    const isAtStart = first <= (pruned?.count ?? 0) + 1 || first === before;
    before = first;
    const over = isAtStart || lines.length >= enough;
    const more = over && (!isAtStart || all.length > enough);
    yield { lines, searched: total + 1 - first, over, more };
    if (over) return;
  }
}

/** Describes the state of a search in a log of `total` lines; `found` is `null` before the first response. */
export function searchWords(found: Found | null, total: number): string {
  if (found === null) return 'Searching …';
  const searched = found.searched.toLocaleString('en');
  const looked = `${searched} of ${total.toLocaleString('en')} lines searched`;
  if (!found.over) return `Searching, ${looked}`;
  const count = `${found.lines.length} found, ${looked}`;
  return found.more ? `newest ${count}` : count;
}
