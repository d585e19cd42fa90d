import { closest, distance } from 'fastest-levenshtein';

/** Advises the known name that is spelt most alike, or to remove what is like none. */
export function nearest(written: string, known: readonly string[]): string {
  const near = closest(written, [...known]);
  const isNear = distance(written, near) <= Math.max(1, Math.floor(written.length * 0.4));
  return isNear ? `did you mean ${near}?` : `use one of ${known.join(', ')}, or remove it`;
}
