import { closest, distance } from 'fastest-levenshtein';

/** Returns the known name that a mistyped one was most likely meant to be; `null` when it is like none. */
export function nearestName(written: string, known: readonly string[]): string | null {
  const near = closest(written, [...known]);
  return distance(written, near) <= Math.max(1, Math.floor(written.length * 0.4)) ? near : null;
}
