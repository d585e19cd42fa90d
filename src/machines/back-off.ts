/**
 * Returns the delay in milliseconds after consecutive failures: one second, doubled with each failure up to the
 * maximum.
 */
export function doubledPause(failures: number, longest: number): number {
  return Math.min(longest, 1_000 * 2 ** Math.max(0, failures - 1));
}

/** Maximum delay in milliseconds that a service may request. A longer one may be a value in the wrong unit. */
export const longestRetryAfter = 600_000;
