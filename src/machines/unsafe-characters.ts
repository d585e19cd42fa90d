/**
 * Control, format and line-breaking characters and lone surrogates, which could control a terminal, change the reading
 * direction, or start a new line. Use only with `replace`: the pattern is global and therefore stateful.
 */
export const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
