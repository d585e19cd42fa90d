import { setImmediate as turn } from 'node:timers/promises';
import type { PostgresDatabase } from './postgres-database.ts';

/** Committed log lines; `first` is the number of the first one, from 1. */
export interface CommittedLines {
  first: number;
  texts: string[];
}

/** Signals that end reading lines. */
export interface LinesUntil {
  /** Aborts reading immediately. */
  lost: AbortSignal;
  /** Ends reading after all existing lines are read. */
  over: AbortSignal;
}

const mostLines = 1_000;

/** Reads a bounded number of log lines after a line number; the oldest lines may have been deleted. */
export async function readLines(
  database: Pick<PostgresDatabase, 'query'>,
  after: number,
  most = mostLines,
): Promise<CommittedLines> {
  const rows = await database.query<{ line: number; text: string }>(
    `SELECT line, text FROM audit_lines WHERE line > $1 ORDER BY line LIMIT $2`,
    [after, most],
  );
  await turn();
  return { first: rows[0]?.line ?? after + 1, texts: rows.map(({ text }) => text) };
}

/** Options for following new lines. */
export interface FollowedLines extends LinesUntil {
  /** Subscribes a listener to commits and calls it once at the start; the returned function unsubscribes. */
  onCommit: (hear: () => void) => () => void;
}

/** Yields the log lines after a line number, then new ones, until a signal ends it. */
export async function* followLines(
  database: Pick<PostgresDatabase, 'query'>,
  after: number,
  { lost, over, onCommit }: FollowedLines,
): AsyncGenerator<CommittedLines> {
  let last = after;
  let isNew = true;
  let wake: () => void = () => undefined;
  const look = (): void => {
    isNew = true;
    wake();
  };
  const stop = onCommit(look);
  for (const signal of [lost, over]) signal.addEventListener('abort', look);
  try {
    while (!lost.aborted) {
      isNew = false;
      const isOver = over.aborted;
      const found = await readLines(database, last).catch(() => null);
      if (found !== null && found.texts.length > 0) {
        last = found.first + found.texts.length - 1;
        yield found;
      } else if (isOver) {
        return;
      } else if (!isNew) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (isNew) resolve();
        });
      }
    }
  } finally {
    stop();
    for (const signal of [lost, over]) signal.removeEventListener('abort', look);
  }
}
