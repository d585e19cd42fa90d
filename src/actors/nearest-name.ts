import { closest, distance } from 'fastest-levenshtein';

/**
 * Returns the most similar known name for a mistyped one; `null` if none is similar. At most `share` of its letters may
 * differ.
 */
export function nearestName(written: string, known: readonly string[], share = 0.4): string | null {
  if (known.length === 0) return null;
  const swapped = known.find((name) => isSwap(written, name));
  if (swapped !== undefined) return swapped;
  const near = closest(written, [...known]);
  return distance(written, near) <= Math.max(1, Math.floor(written.length * share)) ? near : null;
}

/** Returns whether two adjacent letters are swapped between the texts, a common typo. */
function isSwap(written: string, name: string): boolean {
  const at = [...written].findIndex((letter, index) => letter !== name[index]);
  if (at < 0 || written.length !== name.length) return false;
  const [first = '', second = ''] = written.slice(at, at + 2);
  return `${written.slice(0, at)}${second}${first}${written.slice(at + 2)}` === name;
}
