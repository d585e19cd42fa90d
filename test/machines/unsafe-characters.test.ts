import { expect, it } from 'vitest';
import { unsafeCharacters } from '../../src/machines/unsafe-characters.ts';

const marked = (text: string) => text.replace(unsafeCharacters, '·');

it.each([
  ['a terminal code', 'a\u001b[31mb', 'a·[31mb'],
  ['a line', 'a\r\nb', 'a··b'],
  ['a character of C1', 'a\u009bb', 'a·b'],
  ['a direction mark', 'a\u202eb', 'a·b'],
  ['a character without width', 'a\u200bb', 'a·b'],
  ['a separator of lines', 'a\u2028b', 'a·b'],
  ['a separator of paragraphs', 'a\u2029b', 'a·b'],
  ['half of a surrogate pair', 'a\ud800b', 'a·b'],
])('%s is unsafe', (_, text, seen) => {
  expect(marked(text)).toBe(seen);
});

it('letters, signs, spaces and whole pairs are safe', () => {
  const text = 'Größe ≥ 1 000 €, 退款 👍🏽 «ok»';
  expect(marked(text)).toBe(text);
});
