import { nearestName } from '../../nearest-name.ts';

/** Suggests the known name that is spelt most alike, or lists them all. */
export function suggestName(written: string, known: readonly string[]): string {
  const near = nearestName(written, known);
  return near !== null ? `did you mean ${near}?` : `use one of ${known.join(', ')}, or remove it`;
}
