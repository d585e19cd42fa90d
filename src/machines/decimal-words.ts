import { isExactNumber } from './exact-number.ts';

/** Returns an exact decimal for JSON: a number if that has exactly its value, otherwise its text. */
export function decimalJson(decimal: string): number | string {
  return isExactNumber(decimal) ? Number(decimal) : decimal;
}

/** Returns an exact decimal with commas between thousands, such as `4,200.5`. */
export function decimalWords(decimal: number | string): string {
  const [whole = '', ...rest] = String(decimal).split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...rest].join('.');
}
