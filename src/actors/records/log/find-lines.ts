import { createReadStream } from 'node:fs';
import type { JsonObject } from '../../../machines/json.ts';
import { linesWithHash } from './lines-with-hash.ts';
import { sha256Hex } from './node-crypto.ts';
import { AuditLogError } from './verify-files.ts';
import type { FindLines } from './verify-receipt.ts';

/** Returns a search in log files. It throws AuditLogError when a file cannot be read. */
export function findLines(paths: readonly string[]): FindLines {
  return async (hashes) => {
    const found = new Map<string, JsonObject>();
    for (const path of paths) {
      try {
        const chunks = createReadStream(path, { highWaterMark: 256 * 1024 });
        for (const [sha256, line] of await linesWithHash(chunks, hashes, sha256Hex)) {
          found.set(sha256, line);
        }
      } catch (error) {
        throw new AuditLogError(path, error);
      }
    }
    return found;
  };
}
