import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, escapeMarkup } from '../../../../../src/actors/channels/slack/messages/escape.ts';

const anything = fc.string({ unit: 'binary', maxLength: 200 });

describe('escaping', () => {
  it('leaves no character that Slack reads as markup', () => {
    expect(escapeMarkup('<!channel> & <https://evil.example|Approve> &amp;')).toBe(
      '&lt;!channel&gt; &amp; &lt;https://evil.example|Approve&gt; &amp;amp;',
    );
  });
});

describe('cutting a string', () => {
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

  it('never exceeds the limit, splits a character or hides the cut', () => {
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
