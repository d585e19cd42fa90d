import type { Clock } from '../ports.ts';
import { UnreachableError } from '../records/records.ts';
import { rest } from '../rest.ts';

/** Milliseconds between two tries. */
const tryEvery = 1_000;

/**
 * Reads from the store, again and again while it cannot be reached. Rejects with UnreachableError once the signal is
 * aborted; any other error is that of the reading.
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
