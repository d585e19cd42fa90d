import type { Span } from './find-spans.ts';

/** A built-in redaction rule: its pattern, and a filter for false matches. */
export interface RedactionRule {
  name: string;
  /** RE2 syntax; everything the rule finds lies within a match. */
  pattern: string;
  /** True if a value never spans lines or columns: collapsed blanks then separate values. */
  isInOneLine?: true;
  /** Reduces a match to the relevant spans, none for a false match; when absent, the whole match counts. */
  narrow?: (text: string, match: Span) => Span[];
}

/** Creates a `narrow` that accepts or rejects a match by its text and its neighbouring characters. */
export function when(
  holds: (found: string, before: string, after: string) => boolean,
): NonNullable<RedactionRule['narrow']> {
  return (text, { start, end }) => {
    const before = text.slice(Math.max(0, start - 2), start);
    return holds(text.slice(start, end), before, text.slice(end, end + 2)) ? [{ start, end }] : [];
  };
}
