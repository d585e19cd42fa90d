import { z } from 'zod';

/** The schema of a time. */
export const time = z.iso.datetime().describe('RFC 3339, UTC, with milliseconds.');

/** Formats epoch milliseconds as RFC 3339 UTC with milliseconds. */
export function timestamp(at: number): string {
  return new Date(at).toISOString();
}
