import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitAnswer } from '../../../../src/actors/channels/telegram/telegram-conversation.ts';

const withoutSpace = (text: string) => text.replaceAll(/\s/g, '');

describe('splitAnswer', () => {
  it.each([
    ['keeps a short text whole', 'one\ntwo', 10, ['one\ntwo']],
    ['keeps a text of the exact limit whole', '0123456789', 10, ['0123456789']],
    ['cuts at the end of a line', 'first line\nsecond', 12, ['first line', 'second']],
    ['cuts between words without a line end', 'some words here', 11, ['some words', 'here']],
    ['uses no line end in the first half', 'a\nbcdefgh ijklm', 10, ['a\nbcdefgh', 'ijklm']],
    ['cuts a word that is too long', '0123456789ab', 10, ['0123456789', 'ab']],
    ['cuts next to a character of two units', '012345678😀b', 10, ['012345678', '😀b']],
    ['drops white space only', ' \n ', 10, []],
  ])('%s', (_, text, most, parts) => {
    expect(splitAnswer(text, most)).toEqual(parts);
  });

  it('loses only white space, and no part is empty, too long or half a character', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', '\n', '😀', 'é', '.'),
      maxLength: 200,
    });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), (said, most) => {
        const parts = splitAnswer(said, most);
        expect(withoutSpace(parts.join(''))).toBe(withoutSpace(said));
        for (const part of parts) {
          expect(part.trim()).toBe(part);
          expect(part.length).toBeGreaterThan(0);
          expect(part.length).toBeLessThanOrEqual(most);
          expect(part.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});
