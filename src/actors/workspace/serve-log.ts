import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { parseJson } from '../../machines/json.ts';
import { unsafeCharacters } from '../../machines/unsafe-characters.ts';
import { longestLog, openLogFile, shiftLogs } from '../process/process.ts';

/** Bytes at the end of a log that are searched. */
export const logTail = 256 * 1024;

/** Maximum characters of a reported error. */
const longestError = 4_096;

/** Message for a process that exited without a request or an error message. */
const silentEnd =
  'the process ended without a word: it was killed, or the machine was restarted; start the agent again';

const startMessage = 'the agent is started in the background';

/** A line of the daemon's JSON log. */
interface LogRecord {
  level?: unknown;
  msg?: unknown;
  pid?: unknown;
  error?: { message?: unknown };
}

/** Returns the path of the log of a folder's agent. */
export function serveLogPath(directory: string): string {
  return join(directory, '.service', 'serve.log');
}

/**
 * Opens the log of an agent for appending, readable only by its owner; a log above the maximum size is rotated first.
 */
export function openServeLog(directory: string): number {
  const path = serveLogPath(directory);
  const file = openLogFile(path);
  if (fstatSync(file).size < longestLog) return file;
  closeSync(file);
  shiftLogs(path);
  return openLogFile(path);
}

/** Records the start of a process, whose lines follow. */
export function markStart(file: number, pid: number): void {
  const record = { level: 'info', time: new Date().toISOString(), pid, msg: startMessage };
  writeSync(file, `${JSON.stringify(record)}\n`);
}

/** Returns the last lines of an agent's log as plain text, oldest first; empty if there is none. */
export function tailServeLog(directory: string, count: number): string[] {
  return linesAtEnd(directory).map(shownLine).slice(-count);
}

/**
 * Returns the last error of the last process in a log; `null` if there is none. `pid` restricts the search to that
 * process.
 */
export function lastFailure(directory: string, pid?: number): string | null {
  const { started, lines } = lastRun(directory);
  return pid === undefined || started?.pid === pid ? failureOf(lines) : null;
}

/**
 * Returns why a process ended without a request, even if it logged nothing; `null` if it was not the last one started
 * in the background.
 */
export function crashOf(directory: string, pid: number): string | null {
  const { started, lines } = lastRun(directory);
  return started?.pid === pid ? (failureOf(lines) ?? silentEnd) : null;
}

/** Returns the output of the last process started in the background, as plain text, oldest first. */
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

/** Returns the error in a line: from a fatal record of the daemon's log, or any other output. */
function failureIn(line: string): string[] {
  const record = recordOf(line);
  if (record === null)
    return line === '' || / is ready at http/.test(line) ? [] : [shownLine(line)];
  const { msg, error } = record;
  if (typeof msg !== 'string' || !msg.endsWith('the agent stops')) return [];
  return [shownLine(typeof error?.message === 'string' ? `${msg}: ${error.message}` : msg)];
}

function recordOf(line: string): LogRecord | null {
  return line.startsWith('{') ? ((parseJson(line) ?? null) as LogRecord | null) : null;
}

/**
 * Returns the last lines of a log. While the current file is short, the end of the one before it belongs to them: a
 * crash writes to the file that was current at the start.
 */
function linesAtEnd(directory: string): string[] {
  const path = serveLogPath(directory);
  const current = textAtEnd(path, logTail);
  const left = logTail - Buffer.byteLength(current);
  const before = left > 0 && current !== '' ? textAtEnd(`${path}.1`, left) : '';
  const text = `${before}${current}`;
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Reads at most `longest` bytes at the end of a log, starting at a complete line. */
function textAtEnd(path: string, longest: number): string {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) return '';
      const from = Math.max(0, stat.size - longest);
      const bytes = Buffer.alloc(Math.min(longest, stat.size));
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

/** Returns a log line as plain text without terminal control characters. */
export function shownLine(line: string): string {
  return stripVTControlCharacters(line).replace(unsafeCharacters, (sign) =>
    sign === '\t' ? ' ' : '\uFFFD',
  );
}
