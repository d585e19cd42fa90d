/** The pause after so many failures in a row, in milliseconds: a second, doubled with each up to the longest. */
export function doubledPause(failures: number, longest: number): number {
  return Math.min(longest, 1_000 * 2 ** Math.max(0, failures - 1));
}

/** The longest pause that a service is granted, in milliseconds; one that asks for more may have meant seconds. */
export const longestRetryAfter = 600_000;
