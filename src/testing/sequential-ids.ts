import { v7 } from 'uuid';
import type { Clock, Ids } from '../actors/ports.ts';

/** Bytes of a UUID. */
const size = 16;

/** Makes identifiers that are the same in every run: UUIDv7 of the time of a clock, counted. */
export function sequentialIds(clock: Clock): Ids {
  let count = 0;
  return {
    next() {
      count += 1;
      return v7({ msecs: clock.now(), seq: count, random: new Uint8Array(size) });
    },
  };
}
