import type { TimeRange } from '../../../machines/time-range.ts';
import type { Clock } from '../../ports/clock.ts';
import { type FoundLine, linesFromEnd } from './lines-from-end.ts';
import { fileAt, LogFileReader } from './log-file-reader.ts';
import { finishedFilesOf, logFilesOf } from './log-files.ts';
import { type LineFilter, matchingLine, type TailedLine } from './tailed-line.ts';
import { spanOf } from './time-in-file.ts';

/** Options for tailing a log. */
export interface Tailing extends LineFilter {
  /** Number of latest lines to start with; `null` for all lines of the range. */
  limit: number | null;
  /** Continues with new events until the signal aborts; waits for the log if there is none yet. */
  follow?: boolean;
  signal?: AbortSignal;
  clock: Clock;
}

export interface TailOptions extends Tailing {
  /** Path of the log's current file. */
  path: string;
}

const pollInterval = 200;

/**
 * Yields the latest matching lines of a log across all its files, oldest first, then new ones as they are written. A
 * line without an event is also yielded, unless the filter names a task or event. A rotated file is read to its end,
 * then each file after it; a truncated file is read again from its start.
 *
 * @throws AuditLogError when the log cannot be read, or does not exist and is not followed
 */
export async function* tailLines(options: TailOptions): AsyncGenerator<TailedLine> {
  const { path, follow, signal } = options;
  let log = follow === true ? await LogFileReader.find(path) : await LogFileReader.open(path);
  try {
    if (log !== null)
      yield* options.limit === null
        ? all(log, options)
        : latest(log, { ...options, limit: options.limit });
    while (follow === true && signal?.aborted !== true) {
      if (log !== null) yield* unread(log, options);
      const next = await successorOf(log, path);
      if (next !== null) {
        // Lines written between the last read and the rotation.
        if (log !== null) yield* unread(log, options);
        await log?.handle.close();
        log = next;
      } else if (log === null || !(await wasCut(log))) await pauseTail(options);
    }
  } finally {
    await log?.handle.close();
  }
}

async function* unread(log: LogFileReader, options: TailOptions): AsyncGenerator<TailedLine> {
  for await (const line of log.lines()) {
    const matching = matchingLine(line, options);
    if (matching !== null) yield matching;
  }
}

async function* all(current: LogFileReader, options: TailOptions): AsyncGenerator<TailedLine> {
  for (const { path } of finishedFilesOf(options.path)) {
    const log = await LogFileReader.find(path);
    if (log === null) continue;
    try {
      if (log.inode === current.inode) continue;
      await log.restrict(options);
      yield* unread(log, options);
    } finally {
      await log.handle.close();
    }
  }
  await current.restrict(options);
  yield* unread(current, options);
}

async function* latest(
  log: LogFileReader,
  options: TailOptions & { limit: number },
): AsyncGenerator<TailedLine> {
  const found: TailedLine[] = [];
  for await (const { bytes, end } of linesOf(log, options)) {
    log.position = Math.max(log.position, end);
    if (found.length >= options.limit) break;
    const matching = matchingLine(bytes, options);
    if (matching !== null) found.push(matching);
  }
  if (found.length < options.limit) found.push(...(await latestBefore(log, found.length, options)));
  yield* found.reverse();
}

/** Yields the lines of a file that can lie in the range, last first. */
async function* linesOf({ handle }: LogFileReader, range: TimeRange): AsyncGenerator<FoundLine> {
  const { size } = await handle.stat();
  const span = await spanOf(handle, size, range);
  for await (const line of linesFromEnd(handle, span.to)) {
    if (line.end <= span.from) return;
    yield line;
  }
}

/** Returns the latest matching lines of the finished files, newest first. */
async function latestBefore(
  current: LogFileReader,
  already: number,
  options: TailOptions & { limit: number },
): Promise<TailedLine[]> {
  const found: TailedLine[] = [];
  for (const { path } of finishedFilesOf(options.path).toReversed()) {
    const log = await LogFileReader.find(path);
    if (log === null) continue;
    try {
      if (log.inode === current.inode) continue;
      for await (const { bytes } of linesOf(log, options)) {
        const matching = matchingLine(bytes, options);
        if (matching !== null) found.push(matching);
        if (already + found.length >= options.limit) return found;
      }
    } finally {
      await log.handle.close();
    }
  }
  return found;
}

/** Opens the successor of a file; `null` while it is the current one, or its successor does not exist yet. */
async function successorOf(log: LogFileReader | null, path: string): Promise<LogFileReader | null> {
  if (log === null) return LogFileReader.find(path);
  const current = await fileAt(path);
  if (current === null || current.inode === log.inode) return null;
  const files = logFilesOf(path);
  const inodes = await Promise.all(files.map(async (file) => (await fileAt(file))?.inode));
  // If another program moved the log away, continues with the new file at its path.
  const position = inodes.indexOf(log.inode);
  const next = position === -1 ? files.length - 1 : position + 1;
  const found = await LogFileReader.find(files[next] ?? path);
  if (found === null || found.inode === inodes[next]) return found;
  // It was just rotated; the next poll finds it under its new name.
  await found.handle.close();
  return null;
}

async function wasCut(log: LogFileReader): Promise<boolean> {
  const { size } = await log.handle.stat();
  if (size >= log.position) return false;
  log.rewind();
  return true;
}

/** Waits until the next poll of a followed log, or until the signal aborts. */
export function pauseTail({ clock, signal }: Tailing): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.setTimeout(done, pollInterval);
    signal?.addEventListener('abort', done);
    if (signal?.aborted === true) done();
  });
}
