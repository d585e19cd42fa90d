import { mixedWords } from './mixed-letters.ts';

/** A piece of a text as it is shown. */
export interface TextPiece {
  /** The text as it is, or the name of what would not be seen, such as `U+202E`. */
  text: string;
  /** `quiet` is for a tab, which is no attack; `hidden` for what cannot be seen or looks like something else. */
  kind: 'plain' | 'quiet' | 'hidden';
}

/** Signs that end a syllable in the scripts of India and its neighbours; a joiner after one changes what is seen. */
const virama =
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u1039\\u103a\\u17d2\\u1b44\\ua9c0]';

const joining = '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Nko}\\p{Script=Mongolian}]';

/**
 * What belongs to what is seen although it has no form of its own: a joiner between two pictures, a sign that makes a
 * picture of a character, the tags of the flags of England, Scotland and Wales, and joiners between letters that need
 * them (UAX 31). Each begins with the character that it is about, and lookbehinds are short, so that the time is linear.
 */
const needed = [
  '(?=[\\u{fe0e}\\u{fe0f}])(?<=\\p{Emoji})',
  '(?=\\u{200d})(?<=\\p{Extended_Pictographic}[\\u{fe0f}\\p{Emoji_Modifier}]?)(?=.\\p{Extended_Pictographic})',
  `(?=\\u{200c})(?<=${joining}\\p{M}{0,3})(?=.${joining})`,
  `(?=[\\u{200c}\\u{200d}])(?<=\\p{L}\\p{M}{0,2}${virama}\\p{M}{0,2})(?!.\\p{Mc})`,
  '(?=\\u{200d})(?<=[\\u09b0\\u0cb0])(?=.[\\u09cd\\u0ccd])',
].join('|');

const flag =
  '(?<=\\u{1f3f4})\\u{e0067}\\u{e0062}(?:\\u{e0065}\\u{e006e}\\u{e0067}|\\u{e0073}\\u{e0063}\\u{e0074}|\\u{e0077}\\u{e006c}\\u{e0073})\\u{e007f}';

/**
 * What cannot be seen, or turns the direction of what stands beside it; blanks of another kind than the usual one;
 * runs of blanks and of line breaks that push what follows out of sight. A tab, and the tags of a flag, are found as well.
 */
let unseen: RegExp | undefined;
const findUnseen = () =>
  (unseen ??= new RegExp(
    `${flag}|[ \\t]{21,}|\\n(?:[ \\t]{0,20}\\n){5,}|(?!\\n|${needed})[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]|(?! )\\p{Zs}`,
    'gu',
  ));

/** What a text of nothing but these signs may hide: long runs of blanks and line breaks. Most texts are such. */
const other = /[^\n\x20-\x7e]/;
const run = / {21}|\n(?: {0,20}\n){5}/;

/**
 * Splits a text so that what hides in it can be shown: characters that cannot be seen, runs of blanks, and words that mix
 * letters which look alike. Chats, the console and the page show what people and models wrote by this rule alone.
 */
export function piecesOf(text: string): TextPiece[] {
  const lined = text.replaceAll(/\r\n?/g, '\n');
  // The patterns below take long to make, which a phone that shows nothing unusual is spared.
  if (!other.test(lined) && !run.test(lined))
    return lined === '' ? [] : [{ text: lined, kind: 'plain' }];
  const pieces: TextPiece[] = [];
  let begin = 0;
  for (const { end, mark } of mixedWords(lined)) {
    // A text that is shown once more has its mark already.
    if (lined.startsWith(`[${mark}]`, end)) continue;
    addPieces(pieces, lined.slice(begin, end));
    pieces.push({ text: mark, kind: 'hidden' });
    begin = end;
  }
  addPieces(pieces, lined.slice(begin));
  return pieces;
}

/**
 * Returns a text whose every character shows: what is invisible or turns the reading direction becomes its code point
 * in brackets, such as `[U+202E]`, so that what an approver reads is what is asked for.
 */
export function legible(text: string): string {
  return piecesOf(text.toWellFormed())
    .map((piece) => (piece.kind === 'hidden' ? `[${piece.text}]` : piece.text))
    .join('');
}

/** Returns a legible text on one line, so that it cannot pose as a line of ours; `fallback` when it is blank. */
export function oneLine(text: string | null, fallback = 'unknown'): string {
  const line = legible((text ?? '').replaceAll(/\s+/g, ' ')).trim();
  return line === '' ? fallback : line;
}

function addPieces(pieces: TextPiece[], text: string): void {
  let end = 0;
  const addPlain = (to: number): void => {
    if (to > end) pieces.push({ text: text.slice(end, to), kind: 'plain' });
  };
  for (const { 0: found, index } of text.matchAll(findUnseen())) {
    if (found.startsWith('\u{e0067}')) continue;
    addPlain(index);
    pieces.push(
      found === '\t' ? { text: found, kind: 'quiet' } : { text: nameOf(found), kind: 'hidden' },
    );
    end = index + found.length;
  }
  addPlain(text.length);
}

function nameOf(found: string): string {
  if (found.includes('\n')) return `${found.split('\n').length - 1} line breaks`;
  if (found.length > 2 && /^[ \t]/.test(found)) return `${found.length} blanks`;
  const code = found.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
