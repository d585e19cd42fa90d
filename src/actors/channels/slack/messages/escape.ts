/** Escapes a text for Slack's markup and for the fallback of a message, so that it can neither mention nor link. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Cuts a text between two code points, with `…` at the cut, so that it has at most `limit` characters even where
 * Slack counts what `&`, `<` and `>` are escaped to.
 */
export function cut(text: string, limit: number): string {
  if (text.length <= limit && escapeMarkup(text).length <= limit) return text;
  let kept = '';
  let length = 1;
  for (const point of text) {
    length += escapeMarkup(point).length;
    if (length > limit) break;
    kept += point;
  }
  return `${kept.replace(/\u{200d}$/u, '')}…`;
}
