import type { RE2JS } from 're2js';

/** A range of a string in code units; `end` is exclusive. */
export interface Span {
  start: number;
  end: number;
}

/** Time limit of one pattern on one text, in milliseconds, and the addition for each character. */
const baseTime = 100;
const timePerCharacter = 0.004;

/** Number of matches between two checks of the clock. */
const matchesPerLook = 16;

/**
 * The matches of a pattern, and the position from which the text was not searched; `null` if it was searched
 * completely.
 */
export interface FoundSpans {
  spans: Span[];
  unsearchedFrom: number | null;
}

/**
 * Finds every non-empty match from left to right. A pattern whose matches all look far ahead would take quadratic time,
 * so the search stops after 0.1 s plus 4 µs for each character. `now` returns milliseconds and is set only by tests.
 */
export function findSpans(
  expression: RE2JS,
  text: string,
  now: () => number = () => performance.now(),
): FoundSpans {
  const spans: Span[] = [];
  const latest = now() + baseTime + timePerCharacter * text.length;
  const matcher = expression.matcher(text);
  for (let matches = 1; matcher.find(); matches += 1) {
    const span = { start: matcher.start(), end: matcher.end() };
    if (span.end > span.start) spans.push(span);
    if (matches % matchesPerLook === 0 && now() > latest) {
      return { spans, unsearchedFrom: span.end };
    }
  }
  return { spans, unsearchedFrom: null };
}
