import type { Clock } from '../ports/clock.ts';
import { UnreachableError } from '../records/records.ts';
import { rest } from '../rest.ts';

/** Interval of attempts, in milliseconds. */
const tryEvery = 1_000;

/**
 * Reads from the store, with retries while it is unreachable. Rejects with UnreachableError once the signal is aborted;
 * any other error comes from the read.
 */
export async function whenReachable<Found>(
  read: () => Promise<Found>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<Found> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted || !(error instanceof UnreachableError)) throw error;
    }
    await rest(tryEvery, clock, signal);
  }
}
