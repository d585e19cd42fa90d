import { describe, expect, it } from 'vitest';
import { Rewriting } from '../../../../src/actors/governance/guardrails/rewriting.ts';

/** `Bob & Ann <3`, from HTML: three copies and two pieces that were put. */
function rewritten(): Rewriting {
  const made = new Rewriting('Bob &amp; Ann &lt;3');
  made.copy(0, 4);
  made.put('&', 4, 9);
  made.copy(9, 14);
  made.put('<', 14, 18);
  made.copy(18, 19);
  return made;
}

describe('a text made from another one', () => {
  it('is its pieces one after the other', () => {
    const made = rewritten();
    expect([made.text, made.length]).toEqual(['Bob & Ann <3', 12]);
    const none = new Rewriting('abc');
    expect([none.text, none.length]).toEqual(['', 0]);
  });

  it.each<[string, number, number, number, number]>([
    ['of one copy', 0, 3, 0, 3],
    ['of a character within a copy', 6, 7, 10, 11],
    ['of a piece that was put', 4, 5, 4, 9],
    ['from a copy into a piece that was put', 2, 5, 2, 9],
    ['from a piece that was put into a copy', 4, 7, 4, 11],
    ['over a piece that was put', 0, 6, 0, 10],
    ['of the second piece that was put', 10, 11, 14, 18],
    ['of the last copy', 11, 12, 18, 19],
    ['of all of it', 0, 12, 0, 19],
    ['of nothing at its begin', 0, 0, 0, 0],
    ['of nothing within it', 5, 5, 0, 0],
    ['that ends before it begins', 6, 4, 0, 0],
  ])('says where a span came from: %s', (_, start, end, from, to) => {
    expect(rewritten().sourceOf({ start, end })).toEqual({ start: from, end: to });
  });

  it('takes a piece that was put as one, of however many characters it is', () => {
    const made = new Rewriting('½ cup');
    made.put('1/2', 0, 1);
    made.copy(1, 5);
    const places = [0, 1, 2, 3].map((start) => made.sourceOf({ start, end: start + 1 }));
    expect(places).toEqual([
      { start: 0, end: 1 },
      { start: 0, end: 1 },
      { start: 0, end: 1 },
      { start: 1, end: 2 },
    ]);
  });

  it('says which piece was put around a place of the source', () => {
    const made = rewritten();
    const around = Array.from({ length: 19 }, (_, place) => made.putAround(place));
    const ampersand = { start: 4, end: 9 };
    const less = { start: 14, end: 18 };
    expect(around).toEqual([
      ...[null, null, null, null, null],
      ...[ampersand, ampersand, ampersand, ampersand],
      ...[null, null, null, null, null, null],
      ...[less, less, less, null],
    ]);
    expect(new Rewriting('abc').putAround(1)).toBeNull();
  });

  it('says of no piece that it was put around the place where it ends', () => {
    const made = new Rewriting('a&amp;');
    made.copy(0, 1);
    made.put('&', 1, 6);
    const around = Array.from({ length: 7 }, (_, place) => made.putAround(place));
    const ampersand = { start: 1, end: 6 };
    expect(around).toEqual([null, null, ampersand, ampersand, ampersand, ampersand, null]);
  });

  it('knows nothing of what was left out', () => {
    const made = new Rewriting('a---b');
    made.copy(0, 1);
    made.put('', 1, 4);
    made.copy(4, 4);
    made.copy(4, 5);
    expect(made.text).toBe('ab');
    expect(made.putAround(2)).toBeNull();
    expect(made.sourceOf({ start: 0, end: 2 })).toEqual({ start: 0, end: 5 });
    expect(made.sourceOf({ start: 1, end: 2 })).toEqual({ start: 4, end: 5 });
  });
});
