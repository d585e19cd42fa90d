import { readFileSync } from 'node:fs';
import {
  type ChainVerdict,
  type RecordedEvent,
  verifyFiles,
} from '../../../../src/actors/records/log/audit.ts';
import { logFilesOf } from '../../../../src/actors/records/log/log-files.ts';

/** The events of a log over all its files, oldest first; throws for a torn line. */
export function eventsOf(path: string): RecordedEvent[] {
  return logFilesOf(path).flatMap((file) => eventsIn(file));
}

/** The events of one file of a log. */
export function eventsIn(file: string): RecordedEvent[] {
  const text = readFileSync(file, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error(`${file} ends in a torn line`);
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}

/** Verifies a log over all its files, whether its oldest ones are there or not. */
export function verifyLog(path: string): Promise<ChainVerdict> {
  const files = logFilesOf(path);
  const [first] = eventsOf(path);
  const continuedFrom = String(first?.['prev_hash'] ?? '0'.repeat(64));
  return verifyFiles(files, { continuedFrom });
}
