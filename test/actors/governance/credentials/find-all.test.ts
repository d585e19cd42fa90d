import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findAll } from '../../../../src/actors/governance/credentials/find-all.ts';

/** Marks every letter that is part of a word, by looking for each word at each place. */
function coveredOf(text: string, words: string[]): boolean[] {
  const covered = Array.from({ length: text.length }, () => false);
  for (const word of words.filter((one) => one !== '')) {
    for (let at = 0; at < text.length; at += 1) {
      if (text.startsWith(word, at)) covered.fill(true, at, at + word.length);
    }
  }
  return covered;
}

it('every word is found, however words overlap or contain one another', () => {
  const letters = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom('a', 'b', 'ü'), maxLength });
  fc.assert(
    fc.property(letters(60), fc.array(letters(6), { maxLength: 5 }), (text, words) => {
      const spans = findAll(text, words);
      const covered = Array.from({ length: text.length }, () => false);
      for (const [start, end] of spans) covered.fill(true, start, end);
      expect(covered).toEqual(coveredOf(text, words));
      for (const [index, [start]] of spans.entries()) {
        expect(start).toBeGreaterThanOrEqual(spans[index - 1]?.[1] ?? 0);
      }
    }),
    { numRuns: 1_000 },
  );
});

it('touching matches are separate and overlapping ones are joined, also by a later word', () => {
  expect(findAll('abab', ['ab'])).toEqual([
    [0, 2],
    [2, 4],
  ]);
  expect(findAll('xabcabcy', ['abc', 'bcabcy', 'cab'])).toEqual([[1, 8]]);
  expect(findAll('aaaa', ['aa'])).toEqual([[0, 4]]);
  expect(findAll('anything', [])).toEqual([]);
});

it.each(['\u007f', '\u0080', '\u0081', '\uffff'])('a word that begins with %j is found', (unit) => {
  expect(findAll(`a${unit}b${unit}c`, [`${unit}c`, unit])).toEqual([
    [1, 2],
    [3, 5],
  ]);
  expect(findAll(`a${unit}b`, [`${unit}c`])).toEqual([]);
});

it.each([
  ['that matches everywhere', 'a'.repeat(50_000), [[0, 1_000_000]]],
  ['that nearly matches everywhere', `${'a'.repeat(50_000)}b`, []],
  ['whose end matches everywhere', `b${'a'.repeat(50_000)}`, []],
])('the search takes one pass for a word %s', (_, word, spans) => {
  expect(findAll('a'.repeat(1_000_000), [word])).toEqual(spans);
});
