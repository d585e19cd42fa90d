import { expect, it } from 'vitest';
import { isJsonObject, parseJson } from '../../src/machines/json.ts';

it.each([
  [{}, true],
  [{ a: 1 }, true],
  [[], false],
  [null, false],
  [undefined, false],
  ['{}', false],
  [1, false],
  [() => ({}), false],
])('%j is a JSON object: %s', (value, is) => {
  expect(isJsonObject(value)).toBe(is);
});

it.each([
  ['{"a":[1]}', { a: [1] }],
  ['null', null],
  ['{"a":', undefined],
  ['', undefined],
])('parses %s to %s', (text, value) => {
  expect(parseJson(text)).toEqual(value);
});
