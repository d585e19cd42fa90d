import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalJson, decimalLess, decimalWords } from '../../src/machines/decimal-words.ts';

describe('the difference of decimals', () => {
  it.each([
    ['5000', ['4200', '300'], '500'],
    ['0.3', ['0.1', '0.2'], '0'],
    ['1', ['1.05'], '-0.05'],
    ['10', [], '10'],
    ['9007199254740993', ['0.01'], '9007199254740992.99'],
    ['1e3', ['2.5E-1'], '999.75'],
    ['-1', ['-2.50'], '1.5'],
  ])('%s less %j is %s', (whole, parts, rest) => {
    expect(decimalLess(whole, ...parts)).toBe(rest);
  });

  it('is that of whole numbers', () => {
    const cents = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    const decimal = (value: bigint) => `${value}e-2`;
    fc.assert(
      fc.property(cents, cents, (one, other) => {
        const rest = decimalLess(decimal(one), decimal(other));
        expect(decimalLess(rest, decimal(one - other))).toBe('0');
      }),
    );
  });

  it.each(['', 'NaN', '1e99999', '0x1', ' 1'])('refuses %j', (text) => {
    expect(() => decimalLess('1', text)).toThrow(RangeError);
  });
});

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
