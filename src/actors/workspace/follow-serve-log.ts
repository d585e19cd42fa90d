import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as pause } from 'node:timers/promises';
import { logTail, serveLogPath, shownLine } from './serve-log.ts';

/** Milliseconds between two looks at a log: not every file system tells of a change. */
const between = 200;

/** Bytes that are read at once. */
const portion = 64 * 1024;

/** Characters after which a line without an end is given on in parts. */
const longestLine = 256 * 1024;

/** An open log, and where its next unread byte is. */
interface OpenLog {
  file: number;
  inode: number;
  at: number;
}

/**
 * Yields the last `count` lines of an agent's log as plain text and then each line that is written, until `signal` aborts.
 * A log that is cut short is read from its beginning; one that another takes the place of is read to its end, and then
 * the other. One that is not there yet is waited for.
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
      // What stands before the first end of a line has begun before what was read.
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

/** Puts lines together from what is read piece by piece. */
class LineReader {
  #decoder = new StringDecoder('utf8');
  #begun = '';

  take(bytes: Uint8Array): string[] {
    const parts = (this.#begun + this.#decoder.write(Buffer.from(bytes))).split('\n');
    this.#begun = parts.pop() ?? '';
    if (this.#begun.length > longestLine) parts.push(...this.rest());
    return parts.map(shownLine);
  }

  /** Returns the line that has no end yet. */
  rest(): string[] {
    const line = this.#begun;
    this.#begun = '';
    return line === '' ? [] : [shownLine(line)];
  }

  /** Forgets what was begun, and returns where reading goes on. */
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

/** `null` for what is not there and for what is no file: a link could lead to what its owner alone may read. */
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
