import { describe, expect, it } from 'vitest';
import { when } from '../../../../src/actors/governance/guardrails/redaction-rule.ts';

describe('a match of a built-in rule', () => {
  it('is kept whole when its test accepts it, and dropped otherwise', () => {
    const span = { start: 2, end: 4 };
    expect(when((found) => found === 'cd')('abcdef', span)).toEqual([span]);
    expect(when((found) => found !== 'cd')('abcdef', span)).toEqual([]);
  });

  it.each<[string, number, number, [string, string, string]]>([
    ['in the middle of a text', 4, 6, ['ef', 'cd', 'gh']],
    ['one character after the beginning', 1, 3, ['bc', 'a', 'de']],
    ['at the beginning', 0, 2, ['ab', '', 'cd']],
    ['one character before the end', 6, 8, ['gh', 'ef', 'i']],
    ['at the end', 7, 9, ['hi', 'fg', '']],
  ])('is tested with two characters on either side: %s', (_, start, end, seen) => {
    const asked: string[][] = [];
    when((...given) => asked.push(given) > 0)('abcdefghi', { start, end });
    expect(asked).toEqual([seen]);
  });
});
