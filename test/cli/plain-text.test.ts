import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainLine, plainText } from '../../src/cli/plain-text.ts';

describe('plainText', () => {
  it('escapes characters that could control a terminal', () => {
    expect(plainText('a\u001b[2Jb\u202ec\u2028d\ud800\n\te')).toBe(
      'a\\u001b[2Jb\\u202ec\\u2028d\\ud800\n\te',
    );
  });

  it('keeps letters of every script', () => {
    expect(plainText('Zoë 🧾 注文 – "ok"')).toBe('Zoë 🧾 注文 – "ok"');
  });

  it('contains no control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(plainLine(text)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
      }),
    );
  });
});
