/** Milliseconds from a reading of `performance.now()` to another, the present when left out, to the microsecond. */
export function elapsed(since: number, until: number = performance.now()): number {
  return Math.round((until - since) * 1000) / 1000;
}
