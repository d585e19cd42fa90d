import { closest, distance } from 'fastest-levenshtein';

/**
 * Returns the known name that a mistyped one was most likely meant to be; `null` when it is like none. `share` of its
 * letters may be wrong.
 */
export function nearestName(written: string, known: readonly string[], share = 0.4): string | null {
  const near = closest(written, [...known]);
  return distance(written, near) <= Math.max(1, Math.floor(written.length * share)) ? near : null;
}
