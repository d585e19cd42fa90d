import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { legible, oneLine } from '../../src/machines/legible.ts';

const anything = fc.string({ unit: 'binary', maxLength: 200 });

describe('a legible string', () => {
  it.each([
    [
      'characters that change the direction',
      'a\u202Eb\u2066c\u200Fd',
      'a[U+202E]b[U+2066]c[U+200F]d',
    ],
    [
      'characters without width',
      'a\u200Bb\u2060c\uFEFFd\u00ADe',
      'a[U+200B]b[U+2060]c[U+FEFF]d[U+00AD]e',
    ],
    ['tags, which can hide text', `a${String.fromCodePoint(0xe0041)}`, 'a[U+E0041]'],
    ['control characters', 'a\u0000b\u001B[31mc\u0085', 'a[U+0000]b[U+001B][31mc[U+0085]'],
    ['separators of lines', 'a\u2028b\u2029c', 'a[U+2028]b[U+2029]c'],
    ['invisible fillers', 'a\u3164b\u115Fc', 'a[U+3164]b[U+115F]c'],
    ['a joiner without pictures', 'a\u200Db', 'a[U+200D]b'],
    [
      'blanks of other kinds',
      'a\u00A0b\u3000c\u2003d\u2800e',
      'a[U+00A0]b[U+3000]c[U+2003]d[U+2800]e',
    ],
    ['a run of blanks', `ok${' '.repeat(600)}"amount"`, 'ok[600 blanks]"amount"'],
    ['a run of line breaks', `ok${'\n'.repeat(40)}amount`, 'ok[40 line breaks]amount'],
    ['an unneeded joiner', 'pay\u200Cpal', 'pay[U+200C]pal'],
    ['tags outside a flag', '🏴\u{E0061}\u{E007F}', '🏴[U+E0061][U+E007F]'],
    ['half a character', 'a\uD83Db', 'a\uFFFDb'],
    ['line breaks of all kinds', 'a\r\nb\rc\nd\te', 'a\nb\nc\nd\te'],
  ])('shows %s', (_, text, shown) => {
    expect(legible(text)).toBe(shown);
  });

  it.each([
    ['\u0430nn@example.com', 'а is Cyrillic'],
    ['ann@ex\u0430mpl\u0435.com', 'а, е are Cyrillic'],
    ['ann@\u0430\u0440\u0435.com', 'а, р, е are Cyrillic'],
    ['p\u03B1ypal', 'α is Greek'],
    ['\u0585ffice', 'օ is Armenian'],
    ['p\u0435t\u03BFr', 'е is Cyrillic; ο is Greek'],
    ['приbет', 'b is Latin'],
  ])('marks %s, once', (text, mark) => {
    const shown = `${text}[mixed letters: ${mark}]`;
    expect(legible(text)).toBe(shown);
    expect(legible(`to ${shown}, now`)).toBe(`to ${shown}, now`);
  });

  it.each([
    ['another language', 'Привет, мир: IT-отдел, иван@example.com, пример.рф, Ελλάδα'],
    ['Japanese with Latin letters', 'Tシャツ PDFファイル 3月'],
    ['Persian, whose words need the joiner', 'می‌خواهم'],
    ['Hindi, whose letters need it', 'क्‍ष क्‌ष'],
    ['Sinhala and Bengali', 'ශ්‍රී র‍্য'],
    ['the flags of England, Scotland and Wales', '🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿🏴󠁧󠁢󠁷󠁬󠁳󠁿'],
    ['indented code', 'if (a) {\n\t    return b;\n\n\n}'],
  ])('leaves %s as it is', (_, text) => {
    expect(legible(text)).toBe(text);
  });

  it.each(['\u094d', '\u200d\u094d', ' \t', '\n ', 'а\u0301', 'a.', '\u{1f3f4}'])(
    'takes time proportional to the length for %j repeated',
    (piece) => {
      const started = performance.now();
      legible(piece.repeat(200_000));
      expect(performance.now() - started).toBeLessThan(3_000);
    },
  );

  it.each(['👩‍💻', '👍🏽', '👩🏽‍🚀', '❤️', '❤️‍🔥', '1️⃣', '🇩🇪', 'שלום', 'مرحبا', 'naïve', '漢字', 'é'])(
    'leaves %s as it is',
    (text) => {
      expect(legible(text)).toBe(text);
    },
  );

  it('is unchanged when it is made legible again', () => {
    fc.assert(
      fc.property(anything, (text) => {
        const once = legible(text);
        expect(legible(once)).toBe(once);
        expect(once.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('a string on one line', () => {
  it.each([
    ['  ann \n\t Who can decide:\u2028 anyone ', 'ann Who can decide: anyone'],
    ['', 'unknown'],
    [' \n ', 'unknown'],
    [null, 'unknown'],
  ])('of %j is %j', (text, line) => {
    expect(oneLine(text)).toBe(line);
  });
});
