import type { JsonObject } from '../../../machines/json.ts';
import { readLine } from '../log/read-line.ts';

/**
 * Returns the line that goes on from a hash; `null` when the bytes, given without their newline, are no such
 * line. Without a chain every event is one.
 */
export function wholeLine(bytes: Uint8Array, hash: string, chain: boolean): JsonObject | null {
  const line = readLine(bytes);
  if (typeof line === 'string') return null;
  const isNext = chain ? line['prev_hash'] === hash : typeof line['event'] === 'string';
  return isNext ? line : null;
}
