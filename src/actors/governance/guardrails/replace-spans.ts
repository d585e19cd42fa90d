import type { Span } from './find-spans.ts';

/** A span of a text and its replacement. */
export interface Replacement extends Span {
  by: string;
}

/**
 * Replaces each span. Overlapping spans are merged and get the replacement of the first one in the given list, so that
 * no rule leaves a remainder of another rule's match.
 */
export function replaceSpans(text: string, replacements: readonly Replacement[]): string {
  const inOrder = replacements
    .map((replacement, rank) => ({ ...replacement, rank }))
    .sort((one, other) => one.start - other.start);
  const merged: typeof inOrder = [];
  for (const next of inOrder) {
    const last = merged.at(-1);
    if (last === undefined || next.start >= last.end) merged.push(next);
    else {
      last.end = Math.max(last.end, next.end);
      if (next.rank < last.rank) [last.rank, last.by] = [next.rank, next.by];
    }
  }
  const pieces: string[] = [];
  let shown = 0;
  for (const { start, end, by } of merged) {
    pieces.push(text.slice(shown, start), by);
    shown = end;
  }
  return pieces.join('') + text.slice(shown);
}
