import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutToRunes, wellFormed } from '../../src/machines/text.ts';

describe('cutToRunes', () => {
  it('keeps a string of exactly the maximum', () => {
    const text = '🧾'.repeat(512);
    expect(cutToRunes(text, 512)).toBe(text);
  });

  it('counts code points, not UTF-16 units', () => {
    expect(cutToRunes(`${'🧾'.repeat(512)}x`, 512)).toBe('🧾'.repeat(512));
  });

  it('replaces lone surrogates in short and in long strings', () => {
    expect(cutToRunes('a\ud83d', 512)).toBe('a\ufffd');
    expect(cutToRunes('\udc00ab', 2)).toBe('\ufffda');
  });

  it('counts the last character of one unit as one', () => {
    expect(cutToRunes('\uffff\uffffa', 1)).toBe('\uffff');
  });

  it('cuts to the empty string', () => {
    expect(cutToRunes('abc', 0)).toBe('');
  });

  it('returns the beginning of the well-formed string, up to the limit', () => {
    const texts = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) });
    fc.assert(
      fc.property(texts, fc.nat(20), (text, maximum) => {
        const expected = Array.from(text.toWellFormed()).slice(0, maximum).join('');
        expect(cutToRunes(text, maximum)).toBe(expected);
      }),
    );
  });
});

describe('wellFormed', () => {
  it('repairs every string and key at any depth, and changes nothing else', () => {
    expect(wellFormed({ 'a\ud800': ['\udfff!', 1, null, { b: 'fine 😀' }], c: true })).toEqual({
      'a\ufffd': ['\ufffd!', 1, null, { b: 'fine 😀' }],
      c: true,
    });
  });
});
