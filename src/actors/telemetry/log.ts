import {
  type DestinationStream,
  type LoggerOptions,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import type { Log } from '../ports/log.ts';
import { shortLine } from './short-line.ts';

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
