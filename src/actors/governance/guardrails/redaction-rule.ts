import type { Span } from './find-spans.ts';

/** A built-in rule: what it looks for, and which of that is truly meant. */
export interface RedactionRule {
  name: string;
  /** RE2 syntax; everything the rule finds lies in a match of it. */
  pattern: string;
  /** True for what never goes on in another line or column: blanks that were folded part it. */
  isInOneLine?: true;
  /** Narrows a match to the spans that are meant, none when it only looks alike; left out, all of it is. */
  narrow?: (text: string, match: Span) => Span[];
}

/** Keeps a match whole when a test of its text and its neighbours holds. */
export function when(
  holds: (found: string, before: string, after: string) => boolean,
): NonNullable<RedactionRule['narrow']> {
  return (text, { start, end }) => {
    const before = text.slice(Math.max(0, start - 2), start);
    return holds(text.slice(start, end), before, text.slice(end, end + 2)) ? [{ start, end }] : [];
  };
}
