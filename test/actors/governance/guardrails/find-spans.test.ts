import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { findSpans } from '../../../../src/actors/governance/guardrails/find-spans.ts';
import { guardrailsOf } from './some-rules.ts';

describe('the spans of a pattern', () => {
  it('are its matches from left to right, without empty ones', () => {
    expect(findSpans(RE2JS.compile('a*'), 'baab\u{1f600}a')).toEqual({
      spans: [
        { start: 1, end: 3 },
        { start: 6, end: 7 },
      ],
      unsearchedFrom: null,
    });
  });

  it('are dropped when the time for the text is over', () => {
    const times = [0, 101];
    const found = findSpans(RE2JS.compile('x'), 'x'.repeat(100), () => times.shift() ?? 200);
    expect(found).toEqual({
      spans: Array.from({ length: 16 }, (_, start) => ({ start, end: start + 1 })),
      unsearchedFrom: 16,
    });
  });
});

describe('a pattern whose every match scans to the end of the text', () => {
  it('hides the whole text in bounded time', () => {
    const text = 'x'.repeat(65_536);
    const guardrails = guardrailsOf({ deny_output: [{ pattern: 'x*y|x', action: 'redact' }] });
    const started = performance.now();
    const checked = guardrails.checkOutput(text);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(checked).toMatchObject({ kind: 'redacted', text: expect.not.stringContaining('x') });
  });
});

describe('a pattern that makes other engines backtrack', () => {
  it.each([
    ['(a+)+$', 'a', '!'],
    ['(x+x+)+y', 'x', ''],
    ['(a|a)*b', 'a', ''],
    ['(.*a){20}b', 'a', ''],
    ['(a|b)*a(a|b){20}c', 'ab', ''],
  ])('%s takes time proportional to the text', (pattern, unit, end) => {
    const guardrails = guardrailsOf({ deny_output: [{ pattern, action: 'block' }] });
    const text = unit.repeat(16_384 / unit.length) + end;
    const started = performance.now();
    expect(guardrails.checkOutput(text).kind).toBe('passed');
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

describe('the time limit of a pattern', () => {
  /** 25,000 characters, which may take 0.2 s, with two looks at the clock. */
  const text = 'x'.repeat(32) + ' '.repeat(24_968);
  const found = (...times: number[]) =>
    findSpans(RE2JS.compile('x'), text, () => times.shift() ?? Number.POSITIVE_INFINITY);
  const spans = (count: number) =>
    Array.from({ length: count }, (_, start) => ({ start, end: start + 1 }));

  it('is 0.1 s and 4 µs for each character', () => {
    expect(found(1_000, 1_200, 1_200)).toEqual({ spans: spans(32), unsearchedFrom: null });
    expect(found(1_000, 1_200, 1_201)).toEqual({ spans: spans(32), unsearchedFrom: 32 });
    expect(found(1_000, 1_201)).toEqual({ spans: spans(16), unsearchedFrom: 16 });
  });
});
