import { percentile } from './load.ts';

/** One line of the report. */
export interface Figure {
  what: string;
  measured: string;
  /** Empty where there is none. */
  aim: string;
}

/** Writes what half of the times, and all but one in a hundred, are within; in milliseconds. */
export function spread(times: readonly number[]): string {
  return `p50 ${percentile(times, 0.5).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms`;
}

/** Writes a number of bytes in MiB. */
export function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1024 ** 2)} MiB`;
}

/** Writes milliseconds as seconds. */
export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
