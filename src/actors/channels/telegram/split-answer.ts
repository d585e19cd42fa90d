/**
 * Splits a text into parts of at most `most` UTF-16 code units: at a line end in the second half of a part if there is
 * one, else between words, and never inside a character. White space at the cuts is dropped.
 */
export function splitAnswer(text: string, most: number): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest.length > most) {
    const at = cutOf(rest, most);
    parts.push(rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return rest === '' ? parts : [...parts, rest];
}

function cutOf(text: string, most: number): number {
  const line = text.lastIndexOf('\n', most);
  if (line > most / 2) return line;
  const word = text.lastIndexOf(' ', most);
  if (word > most / 2) return word;
  const isInsideCharacter = (text.codePointAt(most - 1) ?? 0) > 0xffff;
  return isInsideCharacter ? most - 1 : most;
}
