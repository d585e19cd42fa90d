import { createReadStream } from 'node:fs';
import type { JsonObject } from '../../../machines/json.ts';
import { maximumLineBytes } from './chain-format.ts';
import { LineSplitter } from './line-splitter.ts';
import { sha256Hex } from './node-crypto.ts';
import { readLine } from './read-line.ts';
import { AuditLogError } from './verify-files.ts';

/**
 * Finds the lines of log files with these hashes; a line that is not valid is left out.
 *
 * @throws AuditLogError when a file cannot be read
 */
export async function linesWithHash(
  paths: readonly string[],
  hashes: ReadonlySet<string>,
): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  for (const path of paths) {
    const splitter = new LineSplitter(maximumLineBytes);
    try {
      for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
        for (const bytes of splitter.push(chunk as Uint8Array)) {
          const sha256 = sha256Hex(bytes);
          const line = hashes.has(sha256) ? readLine(bytes) : '';
          if (typeof line !== 'string') found.set(sha256, line);
        }
      }
    } catch (error) {
      throw new AuditLogError(path, error);
    }
  }
  return found;
}
