import { v7 } from 'uuid';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type { Ids } from '../../src/actors/ports/ids.ts';

/** Size of a UUID in bytes. */
const size = 16;

/** Generates deterministic IDs: UUIDv7 with the time of a clock and a counter. */
export function sequentialIds(clock: Clock): Ids {
  let count = 0;
  return {
    next() {
      count += 1;
      return v7({ msecs: clock.now(), seq: count, random: new Uint8Array(size) });
    },
  };
}
