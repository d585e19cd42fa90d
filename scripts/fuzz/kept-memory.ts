import { collectGarbage } from '../../test/helpers/collect-garbage.ts';

/** Returns what the heap holds after a collection, in MiB to one place. */
export function keptMemory(): number {
  collectGarbage();
  return Math.round((process.memoryUsage().heapUsed / 1_048_576) * 10) / 10;
}
