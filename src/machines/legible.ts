/**
 * What cannot be seen, or turns the direction of what stands beside it; line breaks and tabs are welcome. A joiner
 * between two pictures, and a sign that makes a picture of a character, belong to what is seen.
 */
const unseen =
  /(?![\n\t]|(?<=\p{Emoji})\u{fe0f}|(?<=\p{Extended_Pictographic}[\u{fe0f}\p{Emoji_Modifier}]?)\u{200d}(?=\p{Extended_Pictographic}))[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Returns a text whose every character shows: what is invisible or turns the reading direction becomes its code point
 * in brackets, such as `[U+202E]`, so that what an approver reads is what is asked for.
 */
export function legible(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(unseen, (character) => {
      const code = character.codePointAt(0) ?? 0;
      return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`;
    });
}

/** Returns a legible text on one line, so that it cannot pose as a line of ours; `fallback` when it is blank. */
export function oneLine(text: string | null, fallback = 'unknown'): string {
  const line = legible((text ?? '').replaceAll(/\s+/g, ' ')).trim();
  return line === '' ? fallback : line;
}
