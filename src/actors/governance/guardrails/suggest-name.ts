import { nearestName } from '../../nearest-name.ts';

/** Suggests the most similar known name, or lists all of them. */
export function suggestName(written: string, known: readonly string[]): string {
  const near = nearestName(written, known);
  return near !== null ? `did you mean ${near}?` : `use one of ${known.join(', ')}, or remove it`;
}
