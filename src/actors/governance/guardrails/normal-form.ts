import type { Span } from './find-spans.ts';
import { foldUnicode } from './fold-unicode.ts';
import { undoEscapes } from './undo-escapes.ts';

/**
 * A text in its normal form: the escapes of JSON undone, in NFKC, without what nobody sees, its blanks folded to one
 * (docs/contract/governance.md). Rules look at it beside the text as it stands.
 */
export interface NormalForm {
  text: string;
  /** The same, with a line break for every blank that stands for a line break, a tab or several blanks. */
  lined(): string;
  /** Returns the least piece of the text as it stands that a span of the normal form was made from. */
  sourceOf(span: Span): Span;
  /** Returns the escape that a place of the text as it stands lies in, behind its first character; `null` for none. */
  escapeAround(place: number): Span | null;
}

/** Returns the normal form of a text, in linear time; `null` for a text that is its own. */
export function normalForm(text: string): NormalForm | null {
  const undone = undoEscapes(text);
  const plain = undone?.text ?? text;
  const folded = foldUnicode(plain);
  if (undone === null && folded === null) return null;
  const normal = folded?.folding.text ?? plain;
  const gaps = folded?.gaps ?? [];
  let lined: string | null = null;
  return {
    text: normal,
    lined: () => (lined ??= withBreaks(normal, gaps)),
    sourceOf: (span) => {
      const inPlain = folded?.folding.sourceOf(span) ?? span;
      return undone?.sourceOf(inPlain) ?? inPlain;
    },
    escapeAround: (place) => undone?.putAround(place) ?? null,
  };
}

function withBreaks(text: string, gaps: readonly number[]): string {
  const pieces: string[] = [];
  let copied = 0;
  for (const gap of gaps) {
    pieces.push(text.slice(copied, gap));
    copied = gap + 1;
  }
  pieces.push(text.slice(copied));
  return pieces.join('\n');
}
