const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Shows control, format and line-separating characters as escapes, so that what a model or a
 * caller wrote cannot draw on the screen of whoever decides. Line breaks and tabs stay.
 */
export function plainText(text: string): string {
  return text.replace(unsafe, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  );
}

/** Like plainText, on one line. */
export function plainLine(text: string): string {
  return text.replace(unsafe, escaped);
}

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) =>
    character.charCodeAt(index).toString(16).padStart(4, '0'),
  );
  return units.map((unit) => `\\u${unit}`).join('');
}
