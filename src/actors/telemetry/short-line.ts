import { stripVTControlCharacters } from 'node:util';
import { unsafeCharacters } from '../../machines/unsafe-characters.ts';

interface LogRecord {
  /** RFC 3339 UTC. */
  time: string;
  level: string;
  msg?: string;
  [field: string]: unknown;
}

/**
 * Converts a JSON log line to `12:00:00 warn message key=value`. Unsafe characters are removed, so that no log entry
 * can move the cursor, reverse a line or start another one.
 */
export function shortLine(json: string): string {
  const record: unknown = JSON.parse(json);
  if (!isLogRecord(record)) return `${withoutUnsafe(json)}\n`;
  const { time, level, msg, ...fields } = record;
  const clock = /T([\d:]+)/.exec(time)?.[1];
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${fieldText(value)}`);
  const words = [clock, level.padEnd('error'.length), msg ?? '', ...pairs];
  return `${withoutUnsafe(words.join(' '))}\n`;
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  if (isError(value)) return JSON.stringify(`${value.type}: ${value.message}`);
  return JSON.stringify(value);
}

function isLogRecord(value: unknown): value is LogRecord {
  if (typeof value !== 'object' || value === null) return false;
  return 'time' in value && typeof value.time === 'string' && 'level' in value;
}

function isError(value: unknown): value is { type: string; message: string; stack: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && 'message' in value;
}

function withoutUnsafe(text: string): string {
  return stripVTControlCharacters(text).replaceAll(unsafeCharacters, ' ');
}
