import type { JsonValue } from './json.ts';

// Exact decimals are strings such as `-12.5`, without exponent and without zeros at their ends.

/** Returns the sum of two exact decimals. */
export function plus(one: string, other: string): string {
  return joined(one, other, (first, second) => first + second);
}

/** Returns the difference of two exact decimals. */
export function minus(one: string, other: string): string {
  return joined(one, other, (first, second) => first - second);
}

/** Returns an exact decimal times an integer. */
export function times(one: string, factor: number): string {
  const { digits, scale } = scaled(one);
  return textOf(digits * BigInt(factor), scale);
}

/** Returns whether the first exact decimal is larger than the second. */
export function isMore(one: string, other: string): boolean {
  return minus(other, one).startsWith('-');
}

/** Most digits of a number that is exactly the decimal that was written. */
const mostDigits = 15;

/** A decimal as a string: digits of the whole part and of the fraction. */
export const decimalText = /^\d{1,40}(?:\.\d{1,20})?$/;

/**
 * Returns a number, or a string of ASCII digits with an optional fraction, as an exact decimal. `null` for every other
 * value: a negative or infinite number, one with more digits than a number holds exactly, a string with an exponent.
 */
export function decimalOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return decimalOfNumber(value);
  if (typeof value !== 'string' || !decimalText.test(value)) return null;
  const { digits, scale } = scaled(value);
  return textOf(digits, scale);
}

function decimalOfNumber(value: number): string | null {
  if (!(value >= 0 && value < 10 ** mostDigits)) return null;
  const [mantissa = '', exponent = '0'] = String(value).split('e-');
  const { digits, scale } = scaled(mantissa);
  const places = scale + Number(exponent);
  return String(digits).length > mostDigits || places > 20 ? null : textOf(digits, places);
}

interface Scaled {
  digits: bigint;
  /** Number of digits after the point. */
  scale: number;
}

function scaled(text: string): Scaled {
  const [whole = '', fraction = ''] = text.split('.');
  return { digits: BigInt(whole + fraction), scale: fraction.length };
}

function joined(
  one: string,
  other: string,
  join: (first: bigint, second: bigint) => bigint,
): string {
  const [first, second] = [scaled(one), scaled(other)];
  const scale = Math.max(first.scale, second.scale);
  const raised = ({ digits, scale: own }: Scaled) => digits * 10n ** BigInt(scale - own);
  return textOf(join(raised(first), raised(second)), scale);
}

function textOf(digits: bigint, scale: number): string {
  const sign = digits < 0n ? '-' : '';
  const all = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  const end = all.length - scale;
  const fraction = all.slice(end).replace(/0+$/, '');
  return `${sign}${all.slice(0, end)}${fraction === '' ? '' : `.${fraction}`}`;
}
