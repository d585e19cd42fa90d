/**
 * Returns whether the name of a principal fits a pattern in which `*` stands for any text without a colon,
 * so that no path or session name can pass for another part of the name.
 */
export function matchesPrincipal(arn: string, pattern: string): boolean {
  const parts = arn.split(':');
  const expected = pattern.split(':');
  return (
    parts.length === expected.length &&
    expected.every((part, index) => matchesPart(parts[index] ?? '', part))
  );
}

/** Takes the leftmost place for each piece between stars, which needs no second try. */
function matchesPart(text: string, pattern: string): boolean {
  const [start = '', ...pieces] = pattern.split('*');
  const end = pieces.pop();
  if (end === undefined) return text === pattern;
  if (!text.startsWith(start)) return false;
  let position = start.length;
  for (const piece of pieces) {
    const found = text.indexOf(piece, position);
    if (found < 0) return false;
    position = found + piece.length;
  }
  return text.length - end.length >= position && text.endsWith(end);
}
