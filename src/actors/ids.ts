import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';
import type { Ids } from './ports.ts';

const randomBytesOfId = 16;

/** Makes identifiers: UUIDv7, their randomness drawn from the system in larger portions for speed. */
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
