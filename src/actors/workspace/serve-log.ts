import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { unsafeCharacters } from '../../machines/unsafe-characters.ts';

/** Bytes after which the next start begins a new log and keeps the old one as `.1`. */
const longestLog = 10 * 1024 * 1024;

/** Bytes of the end of a log that are looked at. */
export const logTail = 256 * 1024;

/** Characters of an error that are told. */
const longestError = 4_096;

/** What is told of a process that nobody stopped and that said nothing. */
const silentEnd =
  'the process ended without a word: it was killed, or the machine was restarted; start the agent again';

const startMessage = 'the agent is started in the background';

/** A line that the daemon's own log wrote. */
interface LogRecord {
  level?: unknown;
  msg?: unknown;
  pid?: unknown;
  error?: { message?: unknown };
}

/** Names the log of the agent in a folder. */
export function serveLogPath(directory: string): string {
  return join(directory, '.service', 'serve.log');
}

/** Opens the log of an agent for appending, readable by its owner alone; one that has grown long is put by first. */
export function openServeLog(directory: string): number {
  const path = serveLogPath(directory);
  const file = openLog(path);
  if (fstatSync(file).size < longestLog) return file;
  closeSync(file);
  renameSync(path, `${path}.1`);
  return openLog(path);
}

/** Notes in a log that a process has been started whose lines follow. */
export function markStart(file: number, pid: number): void {
  const record = { level: 'info', time: new Date().toISOString(), pid, msg: startMessage };
  writeSync(file, `${JSON.stringify(record)}\n`);
}

/** Returns the last lines of an agent's log as plain text, oldest first; empty when there is none. */
export function tailServeLog(directory: string, count: number): string[] {
  return linesAtEnd(directory).map(shownLine).slice(-count);
}

/**
 * Returns why the last process of a log ended, in what it said last; `null` when it said nothing of the kind. With a
 * `pid` it is asked of that process alone.
 */
export function lastFailure(directory: string, pid?: number): string | null {
  const { started, lines } = lastRun(directory);
  return pid === undefined || started?.pid === pid ? failureOf(lines) : null;
}

/**
 * Returns why a process ended that did not end as it was asked to, also when it said nothing; `null` for one that was not
 * the last to be started in the background.
 */
export function crashOf(directory: string, pid: number): string | null {
  const { started, lines } = lastRun(directory);
  return started?.pid === pid ? (failureOf(lines) ?? silentEnd) : null;
}

/** Returns what the last process that was started in the background has written, as plain text, oldest first. */
export function lastRunLog(directory: string): string[] {
  return lastRun(directory).lines.map(shownLine);
}

function lastRun(directory: string): { started: LogRecord | null; lines: string[] } {
  const lines = linesAtEnd(directory);
  const start = lines.findLastIndex((line) => recordOf(line)?.msg === startMessage);
  return { started: recordOf(lines[start] ?? ''), lines: lines.slice(start + 1) };
}

function failureOf(lines: readonly string[]): string | null {
  const said = lines.flatMap((line) => failureIn(line));
  if (said.length === 0) return null;
  return said
    .join('\n')
    .replace(/^error: /, '')
    .slice(-longestError)
    .trim();
}

/** What a line says of an end that nobody asked for: the daemon's log says it in records, everything else does not. */
function failureIn(line: string): string[] {
  const record = recordOf(line);
  if (record === null)
    return line === '' || / is ready at http/.test(line) ? [] : [shownLine(line)];
  const { msg, error } = record;
  if (typeof msg !== 'string' || !msg.endsWith('the agent stops')) return [];
  return [shownLine(typeof error?.message === 'string' ? `${msg}: ${error.message}` : msg)];
}

function recordOf(line: string): LogRecord | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as LogRecord;
  } catch {
    return null;
  }
}

function openLog(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  return openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
}

function linesAtEnd(directory: string): string[] {
  const text = textAtEnd(serveLogPath(directory));
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Reads the end of a log from its first whole line on. */
function textAtEnd(path: string): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) return '';
      const from = Math.max(0, stat.size - logTail);
      const bytes = Buffer.alloc(Math.min(logTail, stat.size));
      const read = readSync(file, bytes, 0, bytes.length, from);
      const text = bytes.toString('utf8', 0, read);
      return from === 0 ? text : text.slice(text.indexOf('\n') + 1);
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

/** Returns a line of a log as plain text, with nothing in it that a terminal obeys. */
export function shownLine(line: string): string {
  return stripVTControlCharacters(line).replace(unsafeCharacters, (sign) =>
    sign === '\t' ? ' ' : '\uFFFD',
  );
}
