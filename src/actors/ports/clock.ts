/** Monotonic epoch milliseconds, unaffected by changes of the wall clock, and timers on the same scale. */
export interface Clock {
  now(): number;
  setTimeout(run: () => void, milliseconds: number): unknown;
  clearTimeout(handle: unknown): void;
}
