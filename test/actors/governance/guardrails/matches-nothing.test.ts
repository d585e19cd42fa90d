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
  ])('that can match the empty string is detected: %s', (source) => {
    expect(matchesNothing(RE2JS.compile(source))).toBe(true);
  });

  it.each(['a', '.', 'a+', '\\s', '^a', 'a$', '\\ba', '\\n', '(?:a|b)+', '(?s:.)'])(
    'that always takes a character is not reported: %s',
    (source) => {
      expect(matchesNothing(RE2JS.compile(source))).toBe(false);
    },
  );
});
