import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InexactNumberError, inexactNumber, readExactJson } from '../../src/machines/exact-json.ts';

/** The value of a decimal literal as a fraction of whole numbers, without a rounding. */
function valueOf(literal: string): { digits: bigint; scale: number } {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(literal) ?? [];
  return {
    digits: BigInt(`${sign}${whole}${fraction}`),
    scale: Number(exponent) - fraction.length,
  };
}

function areEqual(one: string, other: string): boolean {
  const [a, b] = [valueOf(one), valueOf(other)];
  const least = Math.min(a.scale, b.scale);
  const scaled = ({ digits, scale }: typeof a) => digits * 10n ** BigInt(scale - least);
  return scaled(a) === scaled(b);
}

const digits = (most: number) =>
  fc.array(fc.nat(9), { minLength: 1, maxLength: most }).map((all) => all.join(''));
const literal = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(25).map((text) => text.replace(/^0+(?=.)/, '')),
    fc.option(digits(25), { nil: null }),
    fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e+', 'e-'), fc.nat(330)), { nil: null }),
  )
  .map(
    ([sign, whole, fraction, exponent]) =>
      sign + whole + (fraction === null ? '' : `.${fraction}`) + (exponent?.join('') ?? ''),
  );

describe('readExactJson', () => {
  it('refuses a number, or reads a number that is written with the same value', () => {
    const numbers = fc.oneof(
      literal,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(numbers, (text) => {
        try {
          expect(areEqual(JSON.stringify(readExactJson(text)), text)).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(InexactNumberError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('accepts every number that a program writes, except integers beyond 2^53', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const expected = Math.abs(value) > Number.MAX_SAFE_INTEGER ? JSON.stringify(value) : null;
        expect(inexactNumber(JSON.stringify([{ value }]))).toBe(expected?.replace('-', '') ?? null);
      }),
    );
  });

  it.each(['0.1', '1.0', '1e2', '-0', '0e999', '9007199254740991', '-9007199254740991', '5e-324'])(
    'reads %s',
    (text) => {
      expect(readExactJson(` ${text} `)).toEqual(JSON.parse(text));
    },
  );

  it.each([
    '9007199254740992',
    '2512292042121000001',
    '1e400',
    '1e-400',
    '1e16',
    '0.1000000000000000055511',
  ])('refuses %s at any position', (text) => {
    const message = `the number ${text} cannot be read without changing it; send it as a string`;
    expect(() => readExactJson(`{"a \\"b": ["1", {"c": ${text}}]}`)).toThrow(
      new InexactNumberError(message),
    );
    expect(readExactJson(`{"${text}": "-${text}"}`)).toEqual({ [text]: `-${text}` });
  });

  it('quotes the beginning of a long number', () => {
    expect(inexactNumber('1'.repeat(1_000_000))).toBe('1'.repeat(40));
  });

  it('leaves invalid JSON to the parser', () => {
    expect(() => readExactJson('{"a": 1e}')).toThrow(SyntaxError);
  });
});
