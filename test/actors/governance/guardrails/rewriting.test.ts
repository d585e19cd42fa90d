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

describe('a rewritten text', () => {
  it('is its pieces in order', () => {
    const made = rewritten();
    expect([made.text, made.length]).toEqual(['Bob & Ann <3', 12]);
    const none = new Rewriting('abc');
    expect([none.text, none.length]).toEqual(['', 0]);
  });

  it.each<[string, number, number, number, number]>([
    ['of one copy', 0, 3, 0, 3],
    ['of a character within a copy', 6, 7, 10, 11],
    ['of an inserted piece', 4, 5, 4, 9],
    ['from a copy into an inserted piece', 2, 5, 2, 9],
    ['from an inserted piece into a copy', 4, 7, 4, 11],
    ['over an inserted piece', 0, 6, 0, 10],
    ['of the second inserted piece', 10, 11, 14, 18],
    ['of the last copy', 11, 12, 18, 19],
    ['of the whole text', 0, 12, 0, 19],
    ['of nothing at its beginning', 0, 0, 0, 0],
    ['of nothing within it', 5, 5, 0, 0],
    ['that ends before its beginning', 6, 4, 0, 0],
  ])('maps a span back to its source: %s', (_, start, end, from, to) => {
    expect(rewritten().sourceOf({ start, end })).toEqual({ start: from, end: to });
  });

  it('treats an inserted piece as one, of any length', () => {
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

  it('names the inserted piece around a place of the source', () => {
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

  it('names no inserted piece at the place where it ends', () => {
    const made = new Rewriting('a&amp;');
    made.copy(0, 1);
    made.put('&', 1, 6);
    const around = Array.from({ length: 7 }, (_, place) => made.putAround(place));
    const ampersand = { start: 1, end: 6 };
    expect(around).toEqual([null, null, ampersand, ampersand, ampersand, ampersand, null]);
  });

  it('does not map back to removed text', () => {
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
