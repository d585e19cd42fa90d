import { stripVTControlCharacters } from 'node:util';
import {
  type DestinationStream,
  type LoggerOptions,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { unsafeCharacters } from '../../machines/unsafe-characters.ts';
import type { Log } from '../ports/log.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Destination of a log, such as `process.stderr`. */
export interface LogStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Fields that are never logged. */
const secretKeys = [
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'authorization',
  'Authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'passphrase',
  'password',
  'secret',
  'apiKey',
  'api_key',
  'privateKey',
  'private_key',
];

/** Nesting depth to which secret fields are redacted; each wildcard of a redaction path covers one level. */
const redactedDepth = 4;

/** Creates the daemon's log: one JSON object per line, or one short line for a terminal. */
export function createLog({ level, stream }: { level: LogLevel; stream: LogStream }): Log {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: stdSerializers.err, err: stdSerializers.err },
    redact: { paths: secretPaths(), censor: '[redacted]' },
  };
  const destination: DestinationStream =
    stream.isTTY === true ? { write: (json) => void stream.write(shortLine(json)) } : stream;
  return pino(options, destination);
}

function secretPaths(): string[] {
  const depths = Array.from({ length: redactedDepth }, (_, depth) => depth);
  return secretKeys.flatMap((key) =>
    depths.map((depth) => `${Array<string>(depth).fill('*').join('.')}["${key}"]`),
  );
}

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
