import { expect, it } from 'vitest';
import { plainLine } from '../../src/machines/plain-line.ts';
import { unsafeCharacters } from '../../src/machines/unsafe-characters.ts';

it.each([
  ['a control character', '\u0007'],
  ['a line break', '\n'],
  ['a tab', '\t'],
  ['one of the second block', '\u009b'],
  ['a line separator', '\u2028'],
  ['a paragraph separator', '\u2029'],
  ['a character that turns the direction', '\u202e'],
  ['a character that isolates a direction', '\u2066'],
  ['an Arabic mark of direction', '\u061c'],
  ['an invisible joiner', '\u200d'],
  ['a mark of byte order', '\ufeff'],
  ['a soft hyphen', '\u00ad'],
  ['a tag', '\u{e0041}'],
  ['half of a surrogate pair', '\ud800'],
])('%s is unsafe and shown as an escape', (_, character) => {
  const units = Array.from({ length: character.length }, (_unit, at) => character.charCodeAt(at));
  const escapes = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  expect(plainLine(`a${character}b`)).toBe(`a${escapes}b`);
  expect(`a${character}b`.replace(unsafeCharacters, '')).toBe('ab');
});

it.each(['Zoë', '注文', '🧾', '– "ok"', 'نعم'])('%s is as safe as any letter', (text) => {
  expect(plainLine(text)).toBe(text);
});
