import { describe, expect, it } from 'vitest';
import { foldUnicode } from '../../../../src/actors/governance/guardrails/fold-unicode.ts';

/** What a string is folded to, and the pieces of it that each of its code units was made from. */
function folded(text: string): { text: string; gaps: readonly number[]; pieces: string[] } | null {
  const found = foldUnicode(text);
  if (found === null) return null;
  const { folding, gaps } = found;
  const pieces = Array.from({ length: folding.length }, (_, start) => {
    const source = folding.sourceOf({ start, end: start + 1 });
    return text.slice(source.start, source.end);
  });
  return { text: folding.text, gaps, pieces };
}

describe('a string in folded form', () => {
  it.each([
    ['nothing', ''],
    ['letters', 'abc'],
    ['single blanks between words', 'rm -rf /'],
    ['a blank at both ends', ' a '],
    ['a blank before a pair of surrogates', 'a \u{1f600}'],
    ['a lone surrogate', 'a\ud800b\udc00'],
    ['letters with marks that have one character', 'é 한'],
  ])('is recognized: %s', (_, text) => {
    expect(foldUnicode(text)).toBeNull();
  });
});

describe('a folded text', () => {
  it('has one blank for several, and a gap there', () => {
    expect(folded('a  b \t c')).toEqual({
      text: 'a b c',
      gaps: [1, 3],
      pieces: ['a', '  ', 'b', ' \t ', 'c'],
    });
  });

  it('has no gap for a single blank, and one for the end of a line', () => {
    expect(folded('a\u00a0b\nc')).toEqual({
      text: 'a b c',
      gaps: [3],
      pieces: ['a', '\u00a0', 'b', '\n', 'c'],
    });
  });

  it('has the letters of tag characters, which models read and people do not see', () => {
    const tags = [...'rm -rf'].map((letter) =>
      String.fromCodePoint(0xe0000 + letter.charCodeAt(0)),
    );
    expect(folded(`ok${tags.join('')}`)).toEqual({
      ...{ text: 'okrm -rf', gaps: [] },
      pieces: ['o', 'k', ...tags],
    });
  });

  it.each([
    ['ign\u043ere prev\u0456ous', 'ignore previous'],
    ['\u0420assw\u03bfrd', 'Password'],
    ['\u0430\u0431\u0432 a\u0431\u0432', '\u0430\u0431\u0432 a\u0431\u0432'],
    ['\u0440\u0430\u0443', '\u0440\u0430\u0443'],
    ['\u043f\u0430\u0440\u043e\u043b\u044c:abc', '\u043f\u0430\u0440\u043e\u043b\u044c:abc'],
  ])('has Latin letters in place of look-alikes in a mixed word: %s', (text, expected) => {
    expect(foldUnicode(text)?.folding.text ?? text).toBe(expected);
  });

  it('has a blank for those at its end', () => {
    expect(folded('a\n')).toEqual({ text: 'a ', gaps: [1], pieces: ['a', '\n'] });
    expect(folded('a \u200b')).toEqual({ text: 'a ', gaps: [], pieces: ['a', ' '] });
  });

  it('joins blanks across invisible characters', () => {
    expect(folded('a \u200b b')).toEqual({
      text: 'a b',
      gaps: [1],
      pieces: ['a', ' \u200b ', 'b'],
    });
  });

  it('separates a blank from the mark after it and from the letter that changes', () => {
    expect(folded('a ｅ')).toEqual({ text: 'a e', gaps: [], pieces: ['a', ' ', 'ｅ'] });
    expect(folded('a \u0301')?.text).toBe('a \u0301');
  });

  it('joins a mark only to the letter before it', () => {
    expect(folded('xe\u0301y')).toEqual({
      text: 'xéy',
      gaps: [],
      pieces: ['x', 'e\u0301', 'y'],
    });
    expect(folded('\uffffe\u0301')).toEqual({
      text: '\uffffé',
      gaps: [],
      pieces: ['\uffff', 'e\u0301'],
    });
  });

  it('joins a mark to a letter of two units, at the beginning and after another mark', () => {
    const [letter, mark, joined] = ['\u{11099}', '\u{110ba}', '\u{1109a}'];
    const whole = letter + mark;
    expect(folded(whole)).toEqual({ text: joined, gaps: [], pieces: [whole, whole] });
    expect(folded(`x${whole}`)).toEqual({
      text: `x${joined}`,
      gaps: [],
      pieces: ['x', whole, whole],
    });
    expect(folded(`\u200b${whole}`)).toEqual({ text: joined, gaps: [], pieces: [whole, whole] });
    expect(folded(`\u{1f600}e\u0301`)).toEqual({
      text: '\u{1f600}é',
      gaps: [],
      pieces: ['\ud83d', '\ude00', 'e\u0301'],
    });
  });

  it('joins no mark to a piece that is folded already', () => {
    expect(folded('ｅ\u200b\u0301')?.pieces).toEqual(['ｅ\u200b\u0301']);
    expect(folded('\n\u0301')).toEqual({ text: ' \u0301', gaps: [0], pieces: ['\n', '\u0301'] });
  });

  it('sorts at most 32 units of marks together', () => {
    const [above, below] = ['\u0301', '\u0323'];
    expect(folded(`a${above.repeat(30)}${below}`)?.text).toBe(`\u1ea1${above.repeat(30)}`);
    expect(folded(`a${above.repeat(31)}${below}`)?.text).toBe(`á${above.repeat(30)}${below}`);
  });
});
