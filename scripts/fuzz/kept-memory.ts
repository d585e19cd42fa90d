import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns what the heap holds after a collection, in MiB to one place. */
export function keptMemory(): number {
  collect();
  return Math.round((process.memoryUsage().heapUsed / 1_048_576) * 10) / 10;
}
