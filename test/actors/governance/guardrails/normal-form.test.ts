import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalForm } from '../../../../src/actors/governance/guardrails/normal-form.ts';

/** The normal form of a string, which may be the text itself. */
function normal(text: string): string {
  return normalForm(text)?.text ?? text;
}

describe('the normal form', () => {
  it.each([
    ['a plain text', 'rm -rf /', 'rm -rf /'],
    ['two blanks', 'a  b', 'a b'],
    ['a tab, a line break and a no-break space', 'a\tb\r\nc\u00a0d', 'a b c d'],
    [
      'wide blanks, NEL, NUL and the empty braille cell',
      'a\u2003\u3000b\x85c\0d\u2800e',
      'a b c d e',
    ],
    [
      'zero-width marks, soft hyphens and a byte order mark',
      '\ufeffi\u200bg\u200dn\u00ado\u2060re',
      'ignore',
    ],
    ['bidirectional marks', '\u202ei\u2066g\u200en\u061core', 'ignore'],
    ['variation selectors and tags', 'i\ufe0fg\u{e0100}n\u{e0041}ore', 'ignore'],
    ['an invisible mark between blanks', 'a \u200b b', 'a b'],
    ['full width', 'ｉｇｎｏｒｅ　ａｌｌ', 'ignore all'],
    ['mathematical letters', '\u{1d422}\u{1d420}n', 'ign'],
    ['ligatures and circled letters', 'ﬁne Ⓐ', 'fine A'],
    ['letters with separate marks', 'cafe\u0301 ｅ\u0301', 'café é'],
    ['a mark after an invisible one', 'e\u200b\u0301', 'é'],
    ['decomposed Hangul', '\u1112\u1161\u11ab', '한'],
    ['half width with its voicing mark', 'ｶﾞ', 'ガ'],
    ['an escaped line break', 'a\\nb', 'a b'],
    ['nested escapes', 'a\\\\\\\\nb\\\\"c', 'a b"c'],
    ['escaped letters, some of them escaped twice', '\\u0041\\\\u004bI\\u005cu0041', 'AKIA'],
    ['an escaped pair of surrogates', '\\ud835\\udc22g', 'ig'],
    ['escaped slashes', 'https:\\/\\/a', 'https://a'],
    ['backslashes that escape nothing', 'a\\d \\u12 \\', 'a\\d \\u12 \\'],
    ['an emoji', '\u{1f600} a', '\u{1f600} a'],
    ['lone surrogates', '\ud800 \udc00', '\ud800 \udc00'],
    ['a Cyrillic o among Latin letters', 'ign\u043ere', 'ignore'],
  ])('of %s', (_, text, expected) => {
    expect(normal(text)).toBe(expected);
  });

  it('is its own normal form, except for backslashes that it reveals', () => {
    const unit = fc.constantFrom(...'a\u0301 \t\u200bｅ\u00a0\u1112\u1161\ud835\udc22\ufe0f');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), (text) => {
        expect(normal(normal(text))).toBe(normal(text));
      }),
    );
  });

  it('is NFKC for texts without blanks and invisible marks', () => {
    const unit = fc.constantFrom(...'ae\u0301\u0323ｅﬁ\u1112\u1161\u11abｶﾞÅ', '\u{1d422}');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        expect(normal(text)).toBe(text.normalize('NFKC'));
      }),
    );
  });

  it('maps back to the smallest source piece', () => {
    const text = '\\u0041\u200bK  e\u0301\\nx';
    const form = normalForm(text);
    expect(form?.text).toBe('AK é x');
    const piece = (start: number, end: number) => {
      const span = form?.sourceOf({ start, end }) ?? { start: 0, end: 0 };
      return text.slice(span.start, span.end);
    };
    expect([0, 1, 2, 3, 4, 5].map((place) => piece(place, place + 1))).toEqual([
      '\\u0041',
      'K',
      '  ',
      'e\u0301',
      '\\n',
      'x',
    ]);
    expect(piece(0, 2)).toBe('\\u0041\u200bK');
  });

  it('maps back from any place, in order and without gaps except for invisible characters', () => {
    const unit = fc.constantFrom(...'aｅ \t\u200b\u0301', '\\n', '\\u0041', '\\\\', '\u{1d422}');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
        const form = normalForm(text);
        if (form === null) return;
        let [start, end] = [0, 0];
        for (let place = 0; place < form.text.length; place += 1) {
          const span = form.sourceOf({ start: place, end: place + 1 });
          expect(span.end).toBeGreaterThan(span.start);
          // A character with its marks may come to several, each made from all of it.
          if (span.start === start && span.end === end) continue;
          expect(span.start).toBeGreaterThanOrEqual(end);
          expect(text.slice(end, span.start).replaceAll('\u200b', '')).toBe('');
          ({ start, end } = span);
        }
        expect(text.slice(end).replaceAll('\u200b', '')).toBe('');
      }),
      { numRuns: 500 },
    );
  });

  it('keeps line breaks where lines and columns count', () => {
    expect(normalForm('4111 1111\u00a01111\n1111\t2  3')?.lined()).toBe(
      '4111 1111 1111\n1111\n2\n3',
    );
  });

  it.each([
    ['unsorted marks', `a${'\u0301\u0323'.repeat(50_000)}`],
    ['marks in reverse order', `a${'\u0301'.repeat(250_000)}${'\u0323'.repeat(250_000)}`],
    ['backslashes', '\\'.repeat(1_000_000)],
    ['escaped backslashes', '\\u005c'.repeat(150_000)],
    ['invisible marks', 'a\u200b'.repeat(500_000)],
    ['blanks', ' '.repeat(1_000_000)],
  ])('takes time proportional to the text: %s', (_, text) => {
    const began = performance.now();
    normalForm(text);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe('a string that is its own normal form', () => {
  it.each(['', 'rm -rf /', 'two\u{1f600} words', 'é'])('has no other: %j', (text) => {
    expect(normalForm(text)).toBeNull();
  });
});

describe('the normal form in lines', () => {
  it.each([
    ['a\\d', 'a\\d'],
    ['a\\nb', 'a\nb'],
    ['a b\u00a0c', 'a b c'],
    ['a  b\tc\n', 'a\nb\nc\n'],
  ])('separates %j where a blank replaces several', (text, lined) => {
    expect(normalForm(text)?.lined()).toBe(lined);
    expect(normalForm(text)?.text).toBe(lined.replaceAll('\n', ' '));
  });
});
