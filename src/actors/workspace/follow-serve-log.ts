import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as pause } from 'node:timers/promises';
import { logTail, serveLogPath, shownLine } from './serve-log.ts';

/** Polling interval of a log in milliseconds; not every file system reports changes. */
const between = 200;

/** Maximum bytes per read. */
const portion = 64 * 1024;

/** Maximum characters of a line; a longer incomplete line is emitted in parts. */
const longestLine = 256 * 1024;

/** An open log, and the offset of its next unread byte. */
interface OpenLog {
  file: number;
  inode: number;
  at: number;
}

/**
 * Yields the last `count` lines of an agent's log as plain text and then each new line, until `signal` aborts. A
 * truncated log is read from its start; a rotated one is read to its end, and then its successor. Waits for a missing
 * log.
 */
export async function* followServeLog(
  directory: string,
  { count, signal }: { count: number; signal: AbortSignal },
): AsyncGenerator<string[], void> {
  const path = serveLogPath(directory);
  const lines = new LineReader();
  let log = openLog(path);
  try {
    if (log !== null) {
      const from = Math.max(0, fstatSync(log.file).size - logTail);
      log.at = from;
      const found = [...readOn(log, lines)];
      // The text before the first line end is the rest of a line that started earlier.
      yield found.slice(from === 0 ? 0 : 1).slice(-count);
    }
    while (!signal.aborted) {
      log ??= openLog(path);
      if (log !== null) {
        if (fstatSync(log.file).size < log.at) log = { ...log, at: lines.restart() };
        const isReplaced = inodeAt(path) !== log.inode;
        const found = [...readOn(log, lines), ...(isReplaced ? lines.rest() : [])];
        if (found.length > 0) yield found;
        if (isReplaced) {
          closeSync(log.file);
          log = null;
          continue;
        }
      }
      await pause(between, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    if (log !== null) closeSync(log.file);
  }
}

/** Assembles lines from chunks. */
class LineReader {
  #decoder = new StringDecoder('utf8');
  #begun = '';

  take(bytes: Uint8Array): string[] {
    const parts = (this.#begun + this.#decoder.write(Buffer.from(bytes))).split('\n');
    this.#begun = parts.pop() ?? '';
    if (this.#begun.length > longestLine) parts.push(...this.rest());
    return parts.map(shownLine);
  }

  /** Returns the incomplete line, if any. */
  rest(): string[] {
    const line = this.#begun;
    this.#begun = '';
    return line === '' ? [] : [shownLine(line)];
  }

  /** Drops the incomplete line, and returns the offset at which reading continues. */
  restart(): 0 {
    this.#decoder = new StringDecoder('utf8');
    this.#begun = '';
    return 0;
  }
}

function* readOn(log: OpenLog, lines: LineReader): Generator<string> {
  const bytes = Buffer.alloc(portion);
  for (;;) {
    const read = readSync(log.file, bytes, 0, bytes.length, log.at);
    if (read === 0) return;
    log.at += read;
    yield* lines.take(bytes.subarray(0, read));
  }
}

/**
 * Returns `null` for a missing path and for a path that is not a file: a link could lead to a file that only its owner
 * may read.
 */
function openLog(path: string): OpenLog | null {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = fstatSync(file);
    if (stat.isFile()) return { file, inode: stat.ino, at: 0 };
    closeSync(file);
    return null;
  } catch {
    return null;
  }
}

function inodeAt(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? null;
}
