/**
 * Returns whether a principal's ARN matches a pattern. `*` matches any text without a colon, so no path or session name
 * can pass for another part of the ARN.
 */
export function matchesPrincipal(arn: string, pattern: string): boolean {
  const parts = arn.split(':');
  const expected = pattern.split(':');
  return (
    parts.length === expected.length &&
    expected.every((part, index) => matchesPart(parts[index] ?? '', part))
  );
}

/** Matches each piece between stars at its leftmost position, so no backtracking is needed. */
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
