import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutAt, partsOf } from '../../../../../src/actors/channels/slack/messages/text-parts.ts';

const asIs = (piece: string) => piece;

describe('a long text', () => {
  it('is cut at a line break, else between words, else between code points', () => {
    expect([
      cutAt('short', 10),
      cutAt('one two\nthree four', 12),
      cutAt('one two three', 9),
      cutAt('onetwothree', 6),
      cutAt('aaa\u{1f600}', 4),
    ]).toEqual(['short', 'one two', 'one two', 'onetwo', 'aaa']);
  });

  it('is split into a limited number of parts, and the last one reports the cut', () => {
    const options = { limit: 4, most: 2, write: asIs };
    expect([partsOf('aaaa bbbb', options), partsOf('aaaa bbbb cccc', options)]).toEqual([
      ['aaaa', 'bbbb'],
      ['aaaa', 'bbbb\n…'],
    ]);
  });

  it('is split by its length after escaping', () => {
    const write = (piece: string) => piece.replaceAll('&', '&amp;');
    const parts = partsOf('&'.repeat(100), { limit: 50, most: 50, write });
    expect([parts.join(''), parts.every(({ length }) => length <= 50)]).toEqual([
      '&amp;'.repeat(100),
      true,
    ]);
  });

  it('loses only white space at its cuts, and no part is too long', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300, unit: 'grapheme' }),
        fc.integer({ min: 5, max: 40 }),
        (text, limit) => {
          const parts = partsOf(text, { limit, most: 1_000, write: asIs });
          const dense = (said: string) => said.replaceAll(/\s/g, '');
          expect(dense(parts.join(''))).toBe(dense(text));
          expect(parts.filter(({ length }) => length > limit)).toEqual([]);
        },
      ),
    );
  });
});
