import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { readGuardrailPattern } from '../../../../src/actors/governance/guardrails/guardrail-pattern.ts';
import { PatternSet } from '../../../../src/actors/governance/guardrails/pattern-set.ts';
import { runs } from '../../../helpers/runs.ts';

function setOf(sources: readonly string[]): PatternSet {
  return new PatternSet(
    sources.map((source) => {
      const pattern = readGuardrailPattern(source);
      if ('problem' in pattern) throw new Error(pattern.problem);
      return pattern;
    }),
  );
}

/** Characters whose case, width or meaning is special, and a few that are not. */
const letter = fc.constantFrom(
  ...'abkKsS1 .\n"-',
  'ſ',
  '\u212a',
  'ä',
  'Ä',
  'σ',
  'ς',
  '\u{1f600}',
  '\u{10428}',
  '\ud800',
);
const word = fc.string({ unit: letter, minLength: 1, maxLength: 4 });
const text = fc.string({ unit: letter, maxLength: 40 });

const { pattern } = fc.letrec<{ pattern: string }>((tie) => {
  const inner = tie('pattern');
  return {
    pattern: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      word.map((literal) => RE2JS.quote(literal)),
      fc.constantFrom(
        '[a-k]',
        '[^a]',
        '[kK]',
        '(?i:[ks])',
        '.',
        '\\w',
        '\\d',
        '^',
        '$',
        '\\b',
        '\\pL',
        '[ab1]',
        '\\x{e4}',
      ),
      fc.tuple(inner, inner).map(([one, other]) => one + other),
      fc.tuple(inner, inner, inner).map((all) => `(${all.join('|')})`),
      inner.map((sub) => `(?i:${sub})`),
      inner.map((sub) => `(?s:${sub})`),
      fc
        .tuple(inner, fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,3}', '+?'))
        .map(([sub, count]) => `(?:${sub})${count}`),
    ),
  };
});

const soundPatterns = fc.array(
  pattern.filter((source) => !('problem' in readGuardrailPattern(source))),
  { minLength: 1, maxLength: 12 },
);

describe('a set of patterns', () => {
  it('finds the same as its single patterns', () => {
    fc.assert(
      fc.property(
        soundPatterns,
        fc.array(text, { minLength: 1, maxLength: 5 }),
        (sources, texts) => {
          const set = setOf(sources);
          for (const one of texts) {
            const alone = sources.flatMap((source, index) =>
              RE2JS.compile(source).matcher(one).find() ? [index] : [],
            );
            expect(set.allMatches(one)).toEqual(alone);
            expect(set.firstMatch(one)).toBe(alone[0] ?? null);
          }
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it('finds a pattern without anchors in joined texts if it is in one of them', () => {
    fc.assert(
      fc.property(soundPatterns, fc.array(text, { maxLength: 5 }), (sources, texts) => {
        for (const source of sources) {
          const read = readGuardrailPattern(source);
          if ('problem' in read || read.isAnchored) continue;
          const set = new PatternSet([read]);
          const isInOne = texts.some((one) => set.firstMatch(one) !== null);
          if (isInOne) expect(set.firstMatch(texts.join('\n'))).toBe(0);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it('finds a literal in either case, in every text that contains it', () => {
    fc.assert(
      fc.property(word, text, text, (literal, before, after) => {
        const insensitive = `(?i)${RE2JS.quote(literal)}`;
        const cased = [literal, literal.toUpperCase(), literal.toLowerCase()];
        for (const form of cased) {
          const whole = before + form + after;
          const alone = RE2JS.compile(insensitive).test(whole);
          expect(setOf([insensitive]).firstMatch(whole)).toBe(alone ? 0 : null);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it('knows the letters outside ASCII that (?i) equates with ASCII ones', () => {
    const set = setOf(['(?i)task', 'task']);
    expect(set.allMatches('ta\u017f\u212a')).toEqual([0]);
    expect(set.allMatches('TASK')).toEqual([0]);
    expect(set.allMatches('task')).toEqual([0, 1]);
  });

  it('returns the first matching pattern', () => {
    const set = setOf(['\\d{3}', 'needle', '[x-z]{2}']);
    expect(set.firstMatch('a needle and xy')).toBe(1);
    expect(set.firstMatch('xy, a needle, 123')).toBe(0);
    expect(set.firstMatch('xy')).toBe(2);
    expect(set.firstMatch('none')).toBeNull();
  });

  it('finds strings that overlap or end in one another', () => {
    const set = setOf(['she', 'hers', 'he', 'e', 'ushers', 'sher!']);
    expect(set.allMatches('ushers')).toEqual([0, 1, 2, 3, 4]);
    expect(set.allMatches('ushers')).toEqual([0, 1, 2, 3, 4]);
  });

  it('finds the words of more patterns than share an automaton, twice', () => {
    const words = Array.from({ length: 1_200 }, (_, index) => `w${index}x`);
    const set = setOf(words);
    const all = words.map((_, index) => index);
    expect(set.allMatches(words.join(' '))).toEqual(all);
    expect(set.allMatches(words.join(' '))).toEqual(all);
  });

  it('finds the same when many patterns have the same beginning', () => {
    const sources = Array.from({ length: 300 }, (_, index) => `pass\\w{1,3}${index % 7}.*key`);
    const set = setOf([...sources, '\\d{5}', 'password']);
    const fives = sources.flatMap((_, index) => (index % 7 === 5 ? [index] : []));
    expect(set.allMatches('a passe5 and a key')).toEqual(fives);
    expect(set.firstMatch('a passe5 and a key')).toBe(5);
    expect(set.allMatches('password pass key 12345')).toEqual([300, 301]);
    expect(set.firstMatch('password pass key 12345')).toBe(300);
    expect(set.firstMatch('password')).toBe(301);
  });

  it('works without patterns', () => {
    expect(setOf([]).firstMatch('text')).toBeNull();
    expect(setOf([]).allMatches('text')).toEqual([]);
  });
});
