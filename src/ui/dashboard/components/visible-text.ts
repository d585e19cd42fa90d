/**
 * Characters that a reader cannot see, or that turn or move what is around them: control and format characters,
 * separators other than a space, lone halves of pairs, fillers and variation selectors beyond those of emoji.
 */
const hidden =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u180e\u2800\u3164\uffa0]|\u034f|[\u17b4\u17b5]|[\u180b-\u180d\u180f]|[\ufe00-\ufe0d]|[\u{e0100}-\u{e01ef}]/gu;

/** A piece of text: as it is, or the name of a character that would not be seen. */
export interface TextPiece {
  text: string;
  hidden: boolean;
}

/** Splits text so that what hides in it can be shown: such a character becomes its name, as `U+202E`. Line breaks stay. */
export function visiblePieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let end = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (character === '\n') continue;
    if (index > end) pieces.push({ text: text.slice(end, index), hidden: false });
    pieces.push({ text: nameOf(character), hidden: true });
    end = index + character.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), hidden: false });
  return pieces;
}

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}
