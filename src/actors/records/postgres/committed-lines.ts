import { setImmediate as turn } from 'node:timers/promises';
import type { PostgresDatabase } from './postgres-database.ts';

/** Lines of the log as they are committed, the first of them with its number, from 1. */
export interface CommittedLines {
  first: number;
  texts: string[];
}

/** How long lines are read. */
export interface LinesUntil {
  /** Nothing more is read from then on. */
  lost: AbortSignal;
  /** What is there by then is read to its end. */
  over: AbortSignal;
}

const mostLines = 1_000;

/** Reads the lines of the log after a number, a bounded count at once; the oldest of a log may be gone. */
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

/** How lines that are to come are waited for. */
export interface FollowedLines extends LinesUntil {
  /** Has somebody hear of each commit, and once at first; the returned function stops it. */
  onCommit: (hear: () => void) => () => void;
}

/** Yields the lines of the log after a number, and those to come, as long as is said. */
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
