import { describe, expect, it } from 'vitest';
import { foldUnicode } from '../../../../src/actors/governance/guardrails/fold-unicode.ts';

/** What a text is folded to, and the pieces of it that each of its code units was made from. */
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

describe('a text that is folded already', () => {
  it.each([
    ['nothing', ''],
    ['letters', 'abc'],
    ['single blanks between words', 'rm -rf /'],
    ['a blank at its begin and its end', ' a '],
    ['a blank before a pair of surrogates', 'a \u{1f600}'],
    ['a lone surrogate', 'a\ud800b\udc00'],
    ['letters with marks that are one character', 'é 한'],
  ])('is told apart: %s', (_, text) => {
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

  it('has no gap for one blank of its line, and one for the end of a line', () => {
    expect(folded('a\u00a0b\nc')).toEqual({
      text: 'a b c',
      gaps: [3],
      pieces: ['a', '\u00a0', 'b', '\n', 'c'],
    });
  });

  it('has what tag characters stand for, which models read and nobody sees', () => {
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
  ])('has Latin letters for those that look like them in a word of both: %s', (text, expected) => {
    expect(foldUnicode(text)?.folding.text ?? text).toBe(expected);
  });

  it('has a blank for those at its end', () => {
    expect(folded('a\n')).toEqual({ text: 'a ', gaps: [1], pieces: ['a', '\n'] });
    expect(folded('a \u200b')).toEqual({ text: 'a ', gaps: [], pieces: ['a', ' '] });
  });

  it('takes blanks for one over what nobody sees', () => {
    expect(folded('a \u200b b')).toEqual({
      text: 'a b',
      gaps: [1],
      pieces: ['a', ' \u200b ', 'b'],
    });
  });

  it('keeps a blank apart from the mark behind it and from the letter that changes', () => {
    expect(folded('a ｅ')).toEqual({ text: 'a e', gaps: [], pieces: ['a', ' ', 'ｅ'] });
    expect(folded('a \u0301')?.text).toBe('a \u0301');
  });

  it('joins a mark to the letter before it alone', () => {
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

  it('joins a mark to a letter of two units, at the begin of the text and behind another', () => {
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

  it('sorts the marks of 32 units together, and those beyond apart', () => {
    const [above, below] = ['\u0301', '\u0323'];
    expect(folded(`a${above.repeat(30)}${below}`)?.text).toBe(`\u1ea1${above.repeat(30)}`);
    expect(folded(`a${above.repeat(31)}${below}`)?.text).toBe(`á${above.repeat(30)}${below}`);
  });
});
