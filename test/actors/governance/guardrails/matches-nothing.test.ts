import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { matchesNothing } from '../../../../src/actors/governance/guardrails/matches-nothing.ts';

describe('a pattern', () => {
  it.each([
    'a*',
    'a|',
    'x?y?',
    '(?:secret)?',
    '^',
    '$',
    '(?m:^)',
    '(?m:$)',
    '\\A',
    '\\z',
    '\\b',
    '\\B',
    '[^a]|\\b',
    '\\n|(?m:$)',
    'a(?m:$)|\\n(?m:^)|\\b',
  ])('that can match without taking a character is found out: %s', (source) => {
    expect(matchesNothing(RE2JS.compile(source))).toBe(true);
  });

  it.each(['a', '.', 'a+', '\\s', '^a', 'a$', '\\ba', '\\n', '(?:a|b)+', '(?s:.)'])(
    'that takes a character wherever it matches is none: %s',
    (source) => {
      expect(matchesNothing(RE2JS.compile(source))).toBe(false);
    },
  );
});
