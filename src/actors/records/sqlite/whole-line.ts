import type { JsonObject } from '../../../machines/json.ts';
import { readLine } from '../log/read-line.ts';

/**
 * Parses the line that continues from a hash; `null` if the bytes (without newline) are not that line. Without a chain
 * any valid event qualifies.
 */
export function wholeLine(bytes: Uint8Array, hash: string, chain: boolean): JsonObject | null {
  const line = readLine(bytes);
  if (typeof line === 'string') return null;
  const isNext = chain ? line['prev_hash'] === hash : typeof line['event'] === 'string';
  return isNext ? line : null;
}
