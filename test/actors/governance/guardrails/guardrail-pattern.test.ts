import { RE2JS, RE2JSSyntaxException } from 're2js';
import { describe, expect, it, vi } from 'vitest';
import { readGuardrailPattern } from '../../../../src/actors/governance/guardrails/guardrail-pattern.ts';

describe('a pattern of a rule', () => {
  it('is read with its size', () => {
    expect(readGuardrailPattern('rm\\s+-rf')).toEqual({
      source: 'rm\\s+-rf',
      size: expect.any(Number),
      isAnchored: false,
    });
  });

  it.each([
    ['^rm', true],
    ['rm$', true],
    ['(?m:^)rm', true],
    ['\\Arm', true],
    ['rm\\z', true],
    ['\\\\^rm', true],
    ['\\Q[\\E^rm', true],
    ['\\[^rm', true],
    ['[^;]rm', false],
    ['\\^rm\\$', false],
    ['\\\\Arm', false],
    ['\\brm\\B', false],
  ])('%s uses an anchor of a string or a line: %s', (source, isAnchored) => {
    expect(readGuardrailPattern(source)).toMatchObject({ isAnchored });
  });

  it.each([
    ['a{1000}'.repeat(5), true],
    ['a{1000}'.repeat(6), false],
    ['(a|bc){0,500}d', true],
  ])('is small enough after %s is expanded: %s', (source, isSound) => {
    expect('source' in readGuardrailPattern(source)).toBe(isSound);
  });

  const perl = 'which RE2 cannot match in linear time; rewrite it without';
  it.each<[string, string]>([
    ['', 'the pattern is empty and would match every text; write one'],
    ['a(?=b)', `the pattern has a lookahead, ${perl} (?= or (?!`],
    ['a(?!b)', `the pattern has a lookahead, ${perl} (?= or (?!`],
    ['(?<=a)b', `the pattern has a lookbehind, ${perl} (?<= or (?<!`],
    ['(?<!a)b', `the pattern has a lookbehind, ${perl} (?<= or (?<!`],
    ['(a)\\1', `the pattern has a backreference, ${perl} one`],
    ['(?P<n>a)\\k<n>', `the pattern has a backreference, ${perl} one`],
    ['(?>a)', 'the pattern has an atomic group, which RE2 does not have; write (?:...)'],
    ['a\\y', 'the pattern has an escape with \\ that RE2 does not know; fix it'],
    ['a{1001}', 'the pattern has a repetition count that RE2 does not take; count to 1000 at most'],
    [
      '(a{100}){100}',
      'the pattern has a repetition count that RE2 does not take; count to 1000 at most',
    ],
    ['a(b', 'the pattern has a ( without its ); close it or write \\('],
    ['a)b', 'the pattern has a ) without its (; open it or write \\)'],
    ['[a', 'the pattern has a [ without its ]; close it or write \\['],
    ['[z-a]', 'the pattern has a character class or range that RE2 does not know; fix it'],
    ['*a', 'the pattern has a *, +, ? or {n} with nothing before it to repeat; escape it with \\'],
    ['a\\', 'the pattern ends in a lone \\; write \\\\ or remove it'],
    [
      'a++',
      'the pattern has a repetition of a repetition, such as a++ or a**, which RE2 does not have; use one',
    ],
    ...['a*', '(a|)', '^', '\\b', '^\\s*$', '(?:a?){500}', '(?i)'].map(
      (source): [string, string] => [
        source,
        'the pattern can match the empty string and so every text; make a part of it mandatory',
      ],
    ),
  ])('%s is a problem with a message', (source, problem) => {
    expect(readGuardrailPattern(source)).toEqual({ problem });
  });

  it.each<[string, string, string]>([
    ['longer than 2,000 characters', 'x'.repeat(2_001), 'is longer than 2000 characters; split it'],
    ['nested too deeply', `${'('.repeat(600)}a${')+'.repeat(600)}`, 'nests too deeply; flatten it'],
    [
      'too large when expanded',
      '\\pL{1000}'.repeat(200),
      'is too large once its repetitions are written out; lower the counts or split it',
    ],
  ])('%s is a problem, without an exception', (_name, source, problem) => {
    expect(readGuardrailPattern(source)).toEqual({ problem: `the pattern ${problem}` });
  });
});

describe('a pattern at the limits', () => {
  const size = (count: number) => `${'a{1000}'.repeat(5)}a{${count}}`;

  it('may have 2,000 characters and no more', () => {
    expect(readGuardrailPattern('x'.repeat(2_000))).toMatchObject({ source: 'x'.repeat(2_000) });
    expect(readGuardrailPattern('x'.repeat(2_001))).toEqual({
      problem: 'the pattern is longer than 2000 characters; split it',
    });
  });

  it('may have a size of 6,000 and no more', () => {
    expect(readGuardrailPattern(size(998))).toEqual({
      source: size(998),
      size: 6_000,
      isAnchored: false,
    });
    expect(readGuardrailPattern(size(999))).toEqual({
      problem:
        'the pattern is too large once its repetitions are written out; lower the counts or split it',
    });
  });
});

describe('the problem of a pattern', () => {
  const unknown = 'has a (?...) group that RE2 does not know; rewrite it';

  it.each([
    ['(?q)a', unknown],
    ['(?#note)a', unknown],
    ['(?P=name)', unknown],
    ['(?', unknown],
    ['(?q)(?=a)', unknown],
    ['(?P<n', 'has a malformed group name; write (?P<name>...)'],
    ['(?<a b>c)', 'has a malformed group name; write (?P<name>...)'],
    ['(?P<n>a)(?P<n>b)', 'uses one group name twice; rename one'],
    ['\\p{Klingon}', 'has a character class or range that RE2 does not know; fix it'],
    ['[[:(?<=:]]', 'has a character class or range that RE2 does not know; fix it'],
    ['a{2,1}', 'has a repetition count that RE2 does not take; count to 1000 at most'],
    ['\\G', 'has an escape with \\ that RE2 does not know; fix it'],
    ['\\y\\1', 'has an escape with \\ that RE2 does not know; fix it'],
    [
      '(a)\\g1',
      'has a backreference, which RE2 cannot match in linear time; rewrite it without one',
    ],
  ])('is the first one in it: %s', (source, problem) => {
    expect(readGuardrailPattern(source)).toEqual({ problem: `the pattern ${problem}` });
  });

  it.each<[string, Error, string]>([
    [
      'it is too large for RE2',
      new RE2JSSyntaxException('expression too large'),
      'is too large once its repetitions are written out; lower the counts or split it',
    ],
    [
      'RE2 reports another error',
      new RE2JSSyntaxException('invalid UTF-8', 'a'),
      'is not RE2 syntax; fix it',
    ],
    [
      'RE2 throws',
      new RangeError('Maximum call stack size exceeded'),
      'could not be read by RE2; write it more simply',
    ],
  ])('is returned and not thrown when %s', (_, error, problem) => {
    vi.spyOn(RE2JS, 'compile').mockImplementation(() => {
      throw error;
    });
    expect(readGuardrailPattern('a')).toEqual({ problem: `the pattern ${problem}` });
  });
});
