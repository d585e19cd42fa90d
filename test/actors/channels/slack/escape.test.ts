import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cut,
  escapeMarkup,
  legible,
  oneLine,
} from '../../../../src/actors/channels/slack/escape.ts';

const anything = fc.string({ unit: 'binary', maxLength: 200 });

describe('escaping', () => {
  it('leaves nothing that Slack takes for markup of its own', () => {
    expect(escapeMarkup('<!channel> & <https://evil.example|Approve> &amp;')).toBe(
      '&lt;!channel&gt; &amp; &lt;https://evil.example|Approve&gt; &amp;amp;',
    );
  });
});

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

describe('cutting a text', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['😀😀', 4, '😀😀'],
    ['😀😀😀', 4, '😀…'],
    ['😀😀😀', 5, '😀😀…'],
    ['<<', 8, '<<'],
    ['<<<', 9, '<<…'],
    ['&', 4, '…'],
    ['👩‍💻👩‍💻', 8, '👩‍💻👩…'],
  ])('%s to %d leaves %s', (text, limit, left) => {
    expect(cut(text, limit)).toBe(left);
  });

  it('never leaves too much, half a character, or a cut that does not show', () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 1, max: 250 }), (any, limit) => {
        const text = any.toWellFormed();
        const left = cut(text, limit);
        expect(left.length).toBeLessThanOrEqual(limit);
        expect(escapeMarkup(left).length).toBeLessThanOrEqual(limit);
        expect(left.isWellFormed()).toBe(true);
        if (left !== text) expect(text.startsWith(left.replace(/…$/, ''))).toBe(true);
        if (left !== text) expect(left.endsWith('…')).toBe(true);
      }),
    );
  });
});
