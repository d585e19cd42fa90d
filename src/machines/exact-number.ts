/**
 * Tells whether a decimal literal, such as `-1.50e3`, is read as exactly the number that it says, and is no integer
 * beyond ±(2^53 - 1), where two literals are read as one number.
 */
export function isExactNumber(literal: string): boolean {
  const value = Number(literal);
  return isExactValue(value) && decimalOf(literal) === decimalOf(String(value));
}

/** Tells whether a number may be the value of a literal that `isExactNumber` lets pass. */
export function isExactValue(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

/** Writes the value of a decimal literal in one form: sign, digits without zeros at either end, exponent. */
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
