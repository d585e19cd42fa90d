/**
 * Control, format and line-breaking characters and lone halves of pairs: what can draw on a terminal, turn the
 * direction of what follows, or begin a line of its own. For `replace`, as it keeps its place.
 */
export const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
