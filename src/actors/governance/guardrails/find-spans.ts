import type { RE2JS } from 're2js';

/** A piece of a text, counted in code units: `end` is the first one after it. */
export interface Span {
  start: number;
  end: number;
}

/** Milliseconds that one pattern may search one text, and what each character adds to them. */
const baseTime = 100;
const timePerCharacter = 0.004;

/** Matches between two looks at the clock. */
const matchesPerLook = 16;

/** The matches of a pattern, and from where on the text was not searched: `null` when all of it was. */
export interface FoundSpans {
  spans: Span[];
  unsearchedFrom: number | null;
}

/**
 * Finds every match that takes a character, from left to right. A pattern whose every match looks
 * far ahead would take time that grows with the square of the text: it is stopped after 0.1 s and
 * 4 µs for each character. `now` tells milliseconds and is given by tests alone.
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
