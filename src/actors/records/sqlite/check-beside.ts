import { WorkerPool } from '../../worker-pool.ts';
import { StoreError } from '../store/store-error.ts';
import type { findDamage } from './find-damage.ts';

/** One store at a time, so that the check leaves the machine to the daemon. */
const workers = new WorkerPool({ atOnce: 1, waiting: Number.POSITIVE_INFINITY });

/**
 * Checks the pages of a store in a worker, since this takes a second for each gigabyte. Resolves with the fault, or
 * `null`. Rejects if the store cannot be read at all, and once `signal` aborts.
 */
export async function checkBeside(path: string, signal: AbortSignal): Promise<StoreError | null> {
  const found = await workers.run<Parameters<typeof findDamage>[0]>({
    from: import.meta,
    module: './find-damage',
    exported: 'findDamage',
    input: path,
    signal,
  });
  return typeof found === 'string' ? new StoreError(found) : null;
}
