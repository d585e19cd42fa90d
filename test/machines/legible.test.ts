import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { legible, oneLine } from '../../src/machines/legible.ts';

const anything = fc.string({ unit: 'binary', maxLength: 200 });

describe('a legible text', () => {
  it.each([
    ['what turns the direction', 'a\u202Eb\u2066c\u200Fd', 'a[U+202E]b[U+2066]c[U+200F]d'],
    ['what has no width', 'a\u200Bb\u2060c\uFEFFd\u00ADe', 'a[U+200B]b[U+2060]c[U+FEFF]d[U+00AD]e'],
    ['tags, which spell in secret', `a${String.fromCodePoint(0xe0041)}`, 'a[U+E0041]'],
    ['control characters', 'a\u0000b\u001B[31mc\u0085', 'a[U+0000]b[U+001B][31mc[U+0085]'],
    ['separators of lines', 'a\u2028b\u2029c', 'a[U+2028]b[U+2029]c'],
    ['fillers that look like nothing', 'a\u3164b\u115Fc', 'a[U+3164]b[U+115F]c'],
    ['a joiner that joins no pictures', 'a\u200Db', 'a[U+200D]b'],
    ['half a character', 'a\uD83Db', 'a\uFFFDb'],
    ['line breaks of all kinds', 'a\r\nb\rc\nd\te', 'a\nb\nc\nd\te'],
  ])('shows %s', (_, text, shown) => {
    expect(legible(text)).toBe(shown);
  });

  it.each(['👩‍💻', '👍🏽', '👩🏽‍🚀', '❤️', '❤️‍🔥', '1️⃣', '🇩🇪', 'שלום', 'مرحبا', 'naïve', '漢字', 'é'])(
    'leaves %s as it is',
    (text) => {
      expect(legible(text)).toBe(text);
    },
  );

  it('says the same when it is made legible again', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const once = legible(text);
        expect(legible(once)).toBe(once);
        expect(once.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('a text on one line', () => {
  it.each([
    ['  ann \n\t May decide:\u2028 anyone ', 'ann May decide: anyone'],
    ['', 'unknown'],
    [' \n ', 'unknown'],
    [null, 'unknown'],
  ])('of %j is %j', (text, line) => {
    expect(oneLine(text)).toBe(line);
  });
});
