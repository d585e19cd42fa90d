import { Decimal } from 'decimal.js';

/** A function available in expressions. */
export interface MathFunction {
  /** Minimum and maximum number of arguments. */
  takes: readonly [number, number];
  of: (values: Decimal[]) => Decimal;
}

const many = 1_000;

/** Largest number whose factorial is computed. */
const greatestFactorial = 170;

/** Functions of `math_calculate` by name; there are no others. */
export const mathFunctions: ReadonlyMap<string, MathFunction> = new Map([
  ...one('abs', (x) => x.abs()),
  ...one('ceil', (x) => x.ceil()),
  ...one('floor', (x) => x.floor()),
  ...one('trunc', (x) => x.trunc()),
  ...one('sign', (x) => (x.isZero() ? x : x.dividedBy(x.abs()))),
  ...one('sqrt', (x) => x.sqrt()),
  ...one('cbrt', (x) => x.cbrt()),
  ...one('exp', (x) => x.exp()),
  ...one('ln', (x) => x.ln()),
  ...one('log10', (x) => x.log(10)),
  ...one('log2', (x) => x.log(2)),
  ...one('sin', (x) => x.sin()),
  ...one('cos', (x) => x.cos()),
  ...one('tan', (x) => x.tan()),
  ...one('asin', (x) => x.asin()),
  ...one('acos', (x) => x.acos()),
  ...one('atan', (x) => x.atan()),
  ...one('factorial', factorial),
  several('round', [1, 2], ([x, digits]) => rounded(x as Decimal, digits)),
  several('log', [2, 2], ([x, base]) => (x as Decimal).log(base as Decimal)),
  several('pow', [2, 2], ([x, exponent]) => (x as Decimal).pow(exponent as Decimal)),
  several('mod', [2, 2], ([x, divisor]) => (x as Decimal).modulo(divisor as Decimal)),
  several('min', [1, many], (values) => values.reduce((x, y) => (y.lessThan(x) ? y : x))),
  several('max', [1, many], (values) => values.reduce((x, y) => (y.greaterThan(x) ? y : x))),
  several('sum', [1, many], sum),
  several('mean', [1, many], (values) => sum(values).dividedBy(values.length)),
]);

function one(name: string, of: (x: Decimal) => Decimal): [string, MathFunction][] {
  return [several(name, [1, 1], ([x]) => of(x as Decimal))];
}

function several(
  name: string,
  takes: MathFunction['takes'],
  of: MathFunction['of'],
): [string, MathFunction] {
  return [name, { takes, of }];
}

function sum(values: Decimal[]): Decimal {
  return values.reduce((x, y) => x.plus(y));
}

/** Rounds half away from zero, as people do. */
function rounded(x: Decimal, digits: Decimal | undefined): Decimal {
  const places = digits?.toNumber() ?? 0;
  const isCount = Number.isInteger(places) && places >= 0 && places <= 34;
  return isCount ? x.toDecimalPlaces(places, Decimal.ROUND_HALF_UP) : notANumber(x);
}

function factorial(x: Decimal): Decimal {
  if (!x.isInteger() || x.isNegative() || x.greaterThan(greatestFactorial)) return notANumber(x);
  let product = x.pow(0);
  for (let factor = 2; factor <= x.toNumber(); factor += 1) product = product.times(factor);
  return product;
}

/** Created from the same Decimal class, so that its precision is preserved. */
function notANumber(x: Decimal): Decimal {
  return x.times(Number.NaN);
}
