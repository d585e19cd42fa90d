import { Decimal } from 'decimal.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalOf, isMore, minus, plus } from '../../src/machines/exact-decimal.ts';
import type { JsonValue } from '../../src/machines/json.ts';
import { runs } from '../helpers/runs.ts';

const Exact = Decimal.clone({ precision: 200, toExpNeg: -9e15, toExpPos: 9e15 });

describe('an exact decimal', () => {
  it.each<[JsonValue, string]>([
    [0, '0'],
    [-0, '0'],
    [1, '1'],
    [0.1, '0.1'],
    [1e-7, '0.0000001'],
    [1.5e-10, '0.00000000015'],
    [999_999_999_999_999, '999999999999999'],
    [12_345_678.123_456_7, '12345678.1234567'],
    ['0', '0'],
    ['007.50', '7.5'],
    ['5000.00', '5000'],
    [
      '123456789012345678901234567890.000000000000000001',
      '123456789012345678901234567890.000000000000000001',
    ],
  ])('is read from %j', (written, exact) => {
    expect(decimalOf(written)).toBe(exact);
  });

  it.each<[JsonValue | undefined]>([
    ...[undefined, null, true, [], [5], {}, { amount: 5 }, { toString: '5' }].map(
      (value): [JsonValue | undefined] => [value],
    ),
    ...[-1, -0.01, 1e15, 1e21, 1e308, 0.1 + 0.2, 1e-21, 5e-324].map((value): [number] => [value]),
    ...[Number.NaN, Infinity, -Infinity].map((value): [number] => [value]),
    ...['', ' 5', '5 ', '+5', '-5', '-0', '1e9', '1E9', '0x10', '0b1', '1_000', '1,000'].map(
      (text): [string] => [text],
    ),
    ...['1.', '.5', '1.2.3', 'NaN', 'Infinity', '５', '０１', '٣', '5\n', '5\u0000', '5€'].map(
      (text): [string] => [text],
    ),
    ...['9'.repeat(41), `0.${'1'.repeat(21)}`].map((text): [string] => [text]),
  ])('is not read from %j', (value) => {
    expect(decimalOf(value)).toBeNull();
  });

  it('is as large as the number that the tool reads', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.double(),
          fc.integer(),
          fc.nat(10 ** 9).map((n) => n / 100),
        ),
        (n) => {
          const exact = decimalOf(n);
          return exact === null || Number(exact) === n + 0;
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('is added, subtracted and compared as decimal.js does without rounding', () => {
    const decimal = fc
      .tuple(
        fc.bigInt({ min: 0n, max: 10n ** 40n - 1n }),
        fc.bigInt({ min: 0n, max: 10n ** 20n - 1n }),
      )
      .map(([whole, fraction]) => decimalOf(`${whole}.${fraction}`) ?? '');
    fc.assert(
      fc.property(decimal, decimal, (one, other) => {
        const [first, second] = [new Exact(one), new Exact(other)];
        expect(plus(one, other)).toBe(first.plus(second).toFixed());
        expect(minus(one, other)).toBe(first.minus(second).toFixed());
        expect(isMore(one, other)).toBe(first.gt(second));
        expect(plus(minus(one, other), other)).toBe(one);
      }),
      { numRuns: runs(300) },
    );
  });
});
