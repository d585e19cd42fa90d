/** Truncates a string at the last line break before a limit, else between two words, else between two code points. */
export function cutAt(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const piece = text.slice(0, limit);
  const cut = Math.max(piece.lastIndexOf('\n'), 0) || Math.max(piece.lastIndexOf(' '), 0);
  if (cut > 0) return piece.slice(0, cut);
  return piece.isWellFormed() ? piece : piece.slice(0, -1);
}

/**
 * Splits a string into parts of at most `limit` characters after `write`. Drops text beyond `most` parts; the last part
 * then notes the omission.
 */
export function partsOf(
  text: string,
  { limit, most, write }: { limit: number; most: number; write: (piece: string) => string },
): string[] {
  const parts: string[] = [];
  let rest = text.trim();
  while (rest !== '' && parts.length < most) {
    let piece = cutAt(rest, limit);
    let written = write(piece);
    while (written.length > limit && piece.length > 1) {
      piece = cutAt(piece, Math.max(1, Math.floor((piece.length * limit) / written.length) - 1));
      written = write(piece);
    }
    parts.push(written);
    rest = rest.slice(piece.length).trimStart();
  }
  if (rest === '') return parts;
  return [...parts.slice(0, -1), `${parts.at(-1) ?? ''}\n…`];
}
