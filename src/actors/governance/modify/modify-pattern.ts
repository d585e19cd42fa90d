import { RE2JS, RE2JSSyntaxException } from 're2js';
import { matchesNothing } from '../guardrails/matches-nothing.ts';

/** A compiled pattern, or one sentence about its problem. */
export type ModifyPatternReading = { ok: true; pattern: RE2JS } | { ok: false; message: string };

/**
 * Compiles a pattern in RE2 syntax, which matches in linear time; a pattern that can match the empty string is refused.
 */
export function readModifyPattern(text: string): ModifyPatternReading {
  try {
    const pattern = RE2JS.compile(text);
    if (!matchesNothing(pattern)) return { ok: true, pattern };
    const message = 'this pattern matches the empty text; let it match at least one character';
    return { ok: false, message };
  } catch (error) {
    return { ok: false, message: describe(error) };
  }
}

function describe(error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) {
    return 'this pattern cannot be compiled; write a simpler one in RE2 syntax';
  }
  const lacking = missing.find(([start]) => start.test(error.getPattern() ?? ''));
  if (lacking !== undefined) return `RE2 has no ${lacking[1]}; write the pattern without`;
  return `this pattern is not RE2 syntax: ${error.getDescription()}; correct it`;
}

const missing: readonly [RegExp, string][] = [
  [/^\(\?[=!]/, 'lookahead'],
  [/^\(\?<[=!]/, 'lookbehind'],
  [/^\\[1-9]/, 'backreferences'],
  [/^\(\?>/, 'atomic groups'],
  [/^[*+?]\+$/, 'possessive repetition'],
];
