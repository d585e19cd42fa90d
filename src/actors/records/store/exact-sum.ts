import { Decimal } from 'decimal.js';

/** Decimals whose sums are never rounded. */
export const Exact = Decimal.clone({ precision: 1e9, toExpNeg: -9e15, toExpPos: 9e15 });

export type Exact = Decimal;

export const zero = new Exact(0);

/** An amount without a sign and an exponent, whose digits no sum can make many. */
const amountForm = /^\d{1,40}(?:\.\d{1,40})?$/;

/** Returns whether text is an amount that a limit can count. */
export function isAmount(text: string | null): text is string {
  return text !== null && amountForm.test(text);
}

/** Returns a sum as text without an exponent. */
export function textOf(sum: Exact): string {
  return sum.toFixed();
}
