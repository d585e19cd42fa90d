/**
 * Cuts a text to a number of Unicode code points ("runes"); a lone surrogate becomes U+FFFD
 * (document 1 section 8: the context of an audit event has at most 512).
 */
export function cutToRunes(text: string, maximum: number): string {
  if (text.length <= maximum) return text.toWellFormed();
  let end = 0;
  for (let runes = 0; runes < maximum && end < text.length; runes += 1) {
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  }
  return text.slice(0, end).toWellFormed();
}
