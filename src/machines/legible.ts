import { mixedWords } from './mixed-letters.ts';

/** A piece of a displayed text. */
export interface TextPiece {
  /** The text itself, or the name of an invisible character, such as `U+202E`. */
  text: string;
  /** `quiet` for a tab, which is harmless; `hidden` for invisible or misleading text. */
  kind: 'plain' | 'quiet' | 'hidden';
}

/**
 * Signs that end a syllable in the scripts of India and its neighbours. A joiner after one of them changes the visible
 * text.
 */
const virama =
  '[\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d3b\\u0d3c\\u0d4d\\u0dca\\u1039\\u103a\\u17d2\\u1b44\\ua9c0]';

const joining = '[\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Nko}\\p{Script=Mongolian}]';

/**
 * Invisible characters that are part of visible text: a joiner between two pictographs, a variation selector after a
 * character, the tags of the flags of England, Scotland and Wales, and joiners between letters that need them (UAX 31).
 * Each pattern begins with the invisible character and lookbehinds are short, so matching takes linear time.
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
 * Matches invisible characters, characters that change the reading direction, unusual blanks, and runs of blanks and
 * line breaks that push the following text out of sight. Also matches tabs and flag tags.
 */
let unseen: RegExp | undefined;
const findUnseen = () =>
  (unseen ??= new RegExp(
    `${flag}|[ \\t]{21,}|\\n(?:[ \\t]{0,20}\\n){5,}|(?!\\n|${needed})[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800]|(?! )\\p{Zs}`,
    'gu',
  ));

/**
 * Text of printable ASCII can hide something only through long runs of blanks and line breaks. Most texts are of this
 * kind.
 */
const other = /[^\n\x20-\x7e]/;
const run = / {21}|\n(?: {0,20}\n){5}/;

/**
 * Splits a string so that hidden content can be displayed: invisible characters, runs of blanks, and words that mix
 * similar-looking letters. Chats, the console and the page all use this rule for text from people and models.
 */
export function piecesOf(text: string): TextPiece[] {
  const lined = text.replaceAll(/\r\n?/g, '\n');
  // The patterns below are expensive to compile, so plain texts return early; this matters on phones.
  if (!other.test(lined) && !run.test(lined))
    return lined === '' ? [] : [{ text: lined, kind: 'plain' }];
  const pieces: TextPiece[] = [];
  let begin = 0;
  for (const { end, mark } of mixedWords(lined)) {
    // Text that was already processed contains its mark.
    if (lined.startsWith(`[${mark}]`, end)) continue;
    addPieces(pieces, lined.slice(begin, end));
    pieces.push({ text: mark, kind: 'hidden' });
    begin = end;
  }
  addPieces(pieces, lined.slice(begin));
  return pieces;
}

/**
 * Returns a string with every character visible. Invisible and direction-changing characters become their code point in
 * brackets, such as `[U+202E]`, so an approver reads exactly what is requested.
 */
export function legible(text: string): string {
  return piecesOf(text.toWellFormed())
    .map((piece) => (piece.kind === 'hidden' ? `[${piece.text}]` : piece.text))
    .join('');
}

/**
 * Returns a legible text on one line, so that it cannot imitate a line of our own output; `fallback` if it is blank.
 */
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
