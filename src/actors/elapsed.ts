/**
 * Returns the milliseconds between two readings of `performance.now()`, rounded to microseconds; `until` defaults to
 * now.
 */
export function elapsed(since: number, until: number = performance.now()): number {
  return Math.round((until - since) * 1000) / 1000;
}
