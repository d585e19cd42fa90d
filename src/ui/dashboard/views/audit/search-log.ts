import { type LogLine, logLine } from './log-line.ts';
import type { LogReader } from './read-log.ts';

/** What is looked for; empty takes all. */
export interface Wanted {
  /** Part of the name of an event. */
  event: string;
  /** Part of the id of a task. */
  task: string;
}

/** What was found so far, newest last. */
export interface Found {
  lines: LogLine[];
  /** How many lines have been looked at, from the end. */
  searched: number;
  /** There is nothing more to look at, or enough was found. */
  over: boolean;
}

const perAnswer = 1_000;
const enough = 200;

/** Looks a log through from its end, and tells what it has after each answer. Throws an ApiError. */
export async function* searchLog(
  reader: Pick<LogReader, 'read'>,
  wanted: Wanted,
  signal: AbortSignal,
): AsyncGenerator<Found> {
  let lines: LogLine[] = [];
  let before: number | null = null;
  let searched = 0;
  for (;;) {
    const { events, first } = await reader.read(perAnswer, before, signal);
    lines = [...events.map(logLine).filter((line) => isWanted(line, wanted)), ...lines].slice(
      -enough,
    );
    searched += events.length;
    before = first;
    const over = events.length === 0 || first <= 1 || lines.length >= enough;
    yield { lines, searched, over };
    if (over) return;
  }
}

function isWanted({ event, task }: LogLine, wanted: Wanted): boolean {
  return (event ?? '').includes(wanted.event) && (task ?? '').includes(wanted.task);
}
