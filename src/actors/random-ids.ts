import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import type { Ids } from './ports/ids.ts';

const randomBytesOfId = 16;

/** Creates UUIDv7 identifiers; random bytes are drawn from the system in batches for speed. */
export function randomIds(): Ids {
  const pool = Buffer.alloc(4_096);
  let used = pool.length;
  return {
    next() {
      if (used === pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      const random = pool.subarray(used, used + randomBytesOfId);
      used += randomBytesOfId;
      return v7({ random });
    },
  };
}
