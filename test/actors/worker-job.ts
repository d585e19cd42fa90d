/** A job of a worker in tests: doubles a number. */
export function workerJob(input: number): number {
  return input * 2;
}
