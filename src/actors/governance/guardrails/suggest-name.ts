import { nearestName } from '../../nearest-name.ts';

/** Advises the known name that is spelt most alike, or to remove what is like none. */
export function nearest(written: string, known: readonly string[]): string {
  const near = nearestName(written, known);
  return near !== null ? `did you mean ${near}?` : `use one of ${known.join(', ')}, or remove it`;
}
