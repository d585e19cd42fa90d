import { isExactNumber } from './exact-number.ts';

/** Returns `whole` less the sum of `parts`, all exact decimals such as `12.50`. Throws RangeError for other text. */
export function decimalLess(whole: string, ...parts: readonly string[]): string {
  const all = [whole, ...parts].map(read);
  const places = Math.max(...all.map(({ scale }) => scale));
  const [first = 0n, ...others] = all.map(
    ({ units, scale }) => units * 10n ** BigInt(places - scale),
  );
  return written(
    others.reduce((rest, one) => rest - one, first),
    places,
  );
}

/** Returns an exact decimal for JSON: a number if that has exactly its value, otherwise its text. */
export function decimalJson(decimal: string): number | string {
  return isExactNumber(decimal) ? Number(decimal) : decimal;
}

/** Returns an exact decimal with commas between thousands, such as `4,200.5`. */
export function decimalWords(decimal: number | string): string {
  const [whole = '', ...rest] = String(decimal).split('.');
  return [whole.replace(/\B(?=(?:\d{3})+$)/g, ','), ...rest].join('.');
}

function read(decimal: string): { units: bigint; scale: number } {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d{1,4}))?$/.exec(decimal) ?? [];
  if (whole === '') throw new RangeError(`${decimal} is not a decimal; write one such as 12.50`);
  const units = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale };
}

function written(units: bigint, places: number): string {
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const end = digits.length - places;
  const fraction = digits.slice(end).replace(/0+$/, '');
  const sign = units < 0n ? '-' : '';
  return `${sign}${digits.slice(0, end)}${fraction === '' ? '' : `.${fraction}`}`;
}
