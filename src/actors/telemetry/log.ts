import {
  type DestinationStream,
  type LoggerOptions,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import type { Log } from '../ports.ts';
import { shortLine } from './short-line.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Where a log is written, such as `process.stderr`. */
export interface LogStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Fields that are never written, whatever they hold. */
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

/** Levels of nesting in which a secret field is found; a redaction path reaches one level a wildcard. */
const redactedDepth = 4;

/** The daemon's log: one JSON object a line, or one short line for a reader at a terminal. */
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
