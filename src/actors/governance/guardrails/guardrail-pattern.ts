import { RE2JS, RE2JSSyntaxException } from 're2js';
import { matchesNothing } from './matches-nothing.ts';

/** A validated pattern. */
export interface GuardrailPattern {
  source: string;
  /** Number of instructions of its program, with repetitions expanded. */
  size: number;
  /** False if the pattern does not depend on text or line boundaries. */
  isAnchored: boolean;
}

/** Maximum characters of a pattern as written. */
const maximumLength = 2_000;

/** Maximum instructions of a pattern: the worst-case cost for each character of text. */
export const maximumSize = 6_000;

/** Parses a rule's pattern, or returns in a sentence why it is invalid. Never throws. */
export function readGuardrailPattern(source: string): GuardrailPattern | { problem: string } {
  if (source === '')
    return { problem: 'the pattern is empty and would match every text; write one' };
  if (source.length > maximumLength) {
    return { problem: `the pattern is longer than ${maximumLength} characters; split it` };
  }
  try {
    const pattern = RE2JS.compile(source);
    const size = pattern.programSize();
    if (size > maximumSize) return { problem: tooLarge };
    if (matchesNothing(pattern)) {
      const problem =
        'the pattern can match the empty string and so every text; make a part of it mandatory';
      return { problem };
    }
    return { source, size, isAnchored: isAnchored(source) };
  } catch (error) {
    return { problem: patternProblem(error) };
  }
}

/** Detects `^`, `$`, `\A` and `\z`. A literal may be misdetected as an anchor; escapes and a negating `^` are not. */
function isAnchored(source: string): boolean {
  return /[$^]|\\[Az]/.test(source.replaceAll(/\\[^Az]|\[\^/g, ''));
}

export const tooLarge =
  'the pattern is too large once its repetitions are written out; lower the counts or split it';

const descriptions: Record<string, string> = {
  'invalid character class range': 'has a character class or range that RE2 does not know; fix it',
  'invalid named capture': 'has a malformed group name; write (?P<name>...)',
  'duplicate capture group name': 'uses one group name twice; rename one',
  'invalid nested repetition operator':
    'has a repetition of a repetition, such as a++ or a**, which RE2 does not have; use one',
  'invalid repeat count': 'has a repetition count that RE2 does not take; count to 1000 at most',
  'missing closing ]': 'has a [ without its ]; close it or write \\[',
  'missing closing )': 'has a ( without its ); close it or write \\(',
  'unexpected )': 'has a ) without its (; open it or write \\)',
  'missing argument to repetition operator':
    'has a *, +, ? or {n} with nothing before it to repeat; escape it with \\',
  'trailing backslash at end of expression': 'ends in a lone \\; write \\\\ or remove it',
  'expression nests too deeply': 'nests too deeply; flatten it',
};

/** Returns in a sentence why RE2 rejects a pattern. */
export function patternProblem(error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) {
    return 'the pattern could not be read by RE2; write it more simply';
  }
  const { error: kind, input } = error;
  if (kind === 'expression too large') return tooLarge;
  if (kind === 'invalid or unsupported Perl syntax' || /^\(\?<[=!]/.test(input ?? ''))
    return `the pattern ${describePerl(input)}`;
  if (kind === 'invalid escape sequence') return `the pattern ${describeEscape(input)}`;
  return `the pattern ${descriptions[kind] ?? 'is not RE2 syntax; fix it'}`;
}

function describePerl(input: string | null): string {
  const start = input ?? '';
  if (/^\(\?[=!]/.test(start)) {
    return 'has a lookahead, which RE2 cannot match in linear time; rewrite it without (?= or (?!';
  }
  if (/^\(\?<[=!]/.test(start)) {
    return 'has a lookbehind, which RE2 cannot match in linear time; rewrite it without (?<= or (?<!';
  }
  if (start.startsWith('(?>')) return 'has an atomic group, which RE2 does not have; write (?:...)';
  return 'has a (?...) group that RE2 does not know; rewrite it';
}

function describeEscape(input: string | null): string {
  return /^\\[1-9kg]/.test(input ?? '')
    ? 'has a backreference, which RE2 cannot match in linear time; rewrite it without one'
    : 'has an escape with \\ that RE2 does not know; fix it';
}
