/**
 * Returns true if a decimal literal, such as `-1.50e3`, is parsed as exactly its value. Integers beyond ±(2^53 - 1) do
 * not count as exact, because different literals parse to the same number there.
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  return isExactValue(value) && decimalOf(literal) === decimalOf(String(value));
}

/** Returns true if a number can be the value of a literal that `isExactNumber` accepts. */
export function isExactValue(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Normalises a decimal literal: sign, digits without leading and trailing zeros, exponent. */
function decimalOf(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([-+]?)(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?$/.exec(literal) ?? [];
  const digits = whole + fraction;
  let [start, end] = [0, digits.length];
  while (digits[start] === '0') start += 1;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  const scale = Number(exponent) - fraction.length + (digits.length - end);
  return `${sign === '-' ? '-' : ''}${digits.slice(start, end)}e${scale}`;
}
