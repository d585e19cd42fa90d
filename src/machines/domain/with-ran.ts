import type { RanCall } from './task.ts';

/** Merges two lists of calls without duplicates, oldest first. */
export function withRan(ran: readonly RanCall[], others: readonly RanCall[]): RanCall[] {
  const calls = new Map([...others, ...ran].map((one) => [one.callId, one]));
  return [...calls.values()].toSorted((one, other) => one.at - other.at);
}
