import { pauseTail, type Tailing } from '../log/tail-lines.ts';
import { matchingLine, type TailedLine } from '../log/tailed-line.ts';
import { UnreachableError } from '../store/task-store.ts';
import { DatabaseError } from './database-error.ts';
import type { PostgresLog } from './postgres-log.ts';

/**
 * Like `tailLines`, for the log of a database. When followed, it continues after an outage where it stopped.
 *
 * @throws DatabaseError when it cannot be read, or does not exist and is not followed
 */
export async function* tailDatabase(
  log: PostgresLog,
  options: Tailing,
): AsyncGenerator<TailedLine> {
  const { follow = false, signal } = options;
  while (!(await log.isThere())) {
    if (!follow) await log.check();
    await pauseTail(options);
    if (signal?.aborted === true) return;
  }
  const { events } = await log.head();
  const span = await log.numbersOf(options);
  if (options.limit === null) {
    for await (const { texts } of log.pages(span.from - 1, span.to - 1)) {
      yield* matchingLines(texts, options);
    }
  } else yield* (await latest(log, span, { ...options, limit: options.limit })).reverse();
  let last = events;
  while (follow && signal?.aborted !== true) {
    try {
      for await (const { first, texts } of log.pages(last)) {
        yield* matchingLines(texts, options);
        last = first + texts.length - 1;
      }
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await pauseTail(options);
  }
}

function* matchingLines(texts: readonly string[], options: Tailing): Generator<TailedLine> {
  for (const text of texts) {
    const matching = matchingLine(Buffer.from(text), options);
    if (matching !== null) yield matching;
  }
}

async function latest(
  log: PostgresLog,
  { from, to }: { from: number; to: number },
  options: Tailing & { limit: number },
): Promise<TailedLine[]> {
  const found: TailedLine[] = [];
  if (options.limit === 0) return found;
  for await (const text of log.fromEnd(to - 1, from)) {
    const matching = matchingLine(Buffer.from(text), options);
    if (matching !== null) found.push(matching);
    if (found.length >= options.limit) break;
  }
  return found;
}

/** Returns whether an error comes from a temporary outage. */
function isPassing(error: unknown): boolean {
  return error instanceof DatabaseError && error.cause instanceof UnreachableError;
}
