import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { visiblePieces } from '../../../../src/ui/dashboard/components/visible-text.ts';

describe('visible text', () => {
  it('names characters that turn the direction, have no width or look like a space', () => {
    const text = 'pay \u202E001\u2069 to\u200Bann\u00A0now\u{E0041}\n\u3164';
    const named = visiblePieces(text).map(({ text, kind }) =>
      kind === 'hidden' ? `[${text}]` : text,
    );
    expect(named.join('')).toBe(
      'pay [U+202E]001[U+2069] to[U+200B]ann[U+00A0]now[U+E0041]\n[U+3164]',
    );
  });

  it('keeps all other characters', () => {
    const plain = 'Größe 5 < 6, 値段 ¥900, “quoted” 🙂\nsecond line';
    expect(visiblePieces(plain)).toEqual([{ text: plain, kind: 'plain' }]);
  });

  it('marks look-alike letters, and a tab without a warning', () => {
    expect(visiblePieces('\u0430nn\tok')).toEqual([
      { text: '\u0430nn', kind: 'plain' },
      { text: 'mixed letters: а is Cyrillic', kind: 'hidden' },
      { text: 'tab', kind: 'quiet' },
      { text: 'ok', kind: 'plain' },
    ]);
  });

  it('keeps a family emoji and needed joiners whole', () => {
    const plain = '👩‍👩‍👧 می‌خواهم';
    expect(visiblePieces(plain)).toEqual([{ text: plain, kind: 'plain' }]);
  });

  it('contains no format or control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const piece of visiblePieces(text)) {
          const rest = piece.text.replaceAll(/\u200c|\u200d|[\u{e0020}-\u{e007f}]/gu, '');
          expect(rest).not.toMatch(/[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?!\n)\p{Cc}/u);
        }
      }),
    );
  });
});
