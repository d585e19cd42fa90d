import { expect, it } from 'vitest';
import { decimalJson, decimalWords } from '../../src/machines/decimal-words.ts';

it.each([
  ['4200', 4200],
  ['0.10', 0.1],
  ['9007199254740993', '9007199254740993'],
])('%s is %j in JSON', (decimal, json) => {
  expect(decimalJson(decimal)).toBe(json);
});

it.each([
  [4200, '4,200'],
  ['1234567.8901', '1,234,567.8901'],
  ['-1000', '-1,000'],
  [0.5, '0.5'],
  [100, '100'],
])('%j is %s for people', (decimal, words) => {
  expect(decimalWords(decimal)).toBe(words);
});
