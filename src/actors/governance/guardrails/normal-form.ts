import type { Span } from './find-spans.ts';
import { foldUnicode } from './fold-unicode.ts';
import { Rewriting } from './rewriting.ts';

/** A run of backslashes, including `\u005c`, and the JSON escape that it starts, if any. */
const escape = /\\(?:\\|u005[cC])*(?:u([\dA-Fa-f]{4})|(["'/bfnrt]))?/y;

/** Characters encoded by a letter after a backslash; any other character encodes itself. */
const controls: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/**
 * Decodes JSON escapes at any nesting depth: a run of backslashes counts as one. Returns `null` for a string without
 * backslashes.
 */
export function undoEscapes(text: string): Rewriting | null {
  let place = text.indexOf('\\');
  if (place === -1) return null;
  const undone = new Rewriting(text);
  let copied = 0;
  for (; place !== -1; place = text.indexOf('\\', copied)) {
    undone.copy(copied, place);
    escape.lastIndex = place;
    const [found, code, letter] = escape.exec(text) ?? ['\\'];
    copied = place + found.length;
    undone.put(meaningOf(code, letter), place, copied);
  }
  undone.copy(copied, text.length);
  return undone;
}

function meaningOf(code: string | undefined, letter: string | undefined): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return letter === undefined ? '\\' : (controls[letter] ?? letter);
}

/**
 * The normal form of a string: JSON escapes decoded, NFKC, without invisible characters, blanks collapsed
 * (docs/contract/governance.md). Rules match it in addition to the original text.
 */
export interface NormalForm {
  text: string;
  /** The same text, with a line break for every blank that replaces a line break, a tab or several blanks. */
  lined(): string;
  /** Returns the smallest span of the original text that produced a span of the normal form. */
  sourceOf(span: Span): Span;
  /**
   * Returns the escape that contains a position of the original text after the escape's first character; `null` for
   * none.
   */
  escapeAround(place: number): Span | null;
}

/** Returns the normal form of a string in linear time; `null` if the text is already normal. */
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
