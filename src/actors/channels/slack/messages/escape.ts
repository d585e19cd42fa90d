/** Escapes a string for Slack's markup and for a message's fallback, so that it cannot create mentions or links. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/**
 * Truncates a string between code points with `…`, so that it has at most `limit` characters even after Slack's escaping
 * of `&`, `<` and `>`.
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
