import { InvalidArgumentError } from 'commander';
import { systemClock } from '../actors/system-clock.ts';
import { parseDuration } from '../machines/duration.ts';
import { decimalOf } from '../machines/exact-decimal.ts';
import { InexactNumberError, readExactJson } from '../machines/exact-json.ts';
import type { JsonValue } from '../machines/json.ts';
import { messageOf } from '../machines/message-of.ts';
import { readTimeRange, type TimeRange } from '../machines/time-range.ts';
import { CliError, exitCodes } from './cli-error.ts';

/** Appends the value of a repeatable option; returns all values. */
export function addValue(text: string, earlier: string[] = []): string[] {
  return [...earlier, text];
}

/** Parses an option such as `refunds_a_day=4900`; returns all amounts by name. */
export function usedValue(
  text: string,
  earlier: Readonly<Record<string, string>>,
): Record<string, string> {
  const [, name = '', written = ''] = /^([^=]+)=(.+)$/.exec(text) ?? [];
  const amount = decimalOf(written);
  if (amount !== null) return { ...earlier, [name]: amount };
  throw new InvalidArgumentError('it must be a limit and an amount, such as refunds_a_day=4900.');
}

/** Parses an option that is a port; 0 lets the system choose. */
export function portValue(text: string): number {
  return wholeValue(text, 0, 65_535);
}

/** Parses an option that is a count. */
export function countValue(text: string): number {
  return wholeValue(text, 1, 1_000_000);
}

/** Parses an option that is a duration such as `90s`; returns milliseconds. */
export function durationValue(text: string): number {
  let milliseconds: number;
  try {
    milliseconds = parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
  if (milliseconds > 0) return milliseconds;
  throw new InvalidArgumentError('it must be longer than 0s.');
}

/** Parses an option that is a time to come; returns epoch milliseconds. */
export function momentValue(text: string): number {
  const at = momentOf(text);
  if (!Number.isNaN(at)) return at;
  throw new InvalidArgumentError(
    'it must be a time such as 2026-12-27T09:00:00Z, or a duration such as 3d.',
  );
}

/** Reads a time in RFC 3339, or a duration from now such as `3d`; returns epoch milliseconds, NaN for anything else. */
export function momentOf(text: string): number {
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return Date.parse(text);
  try {
    return systemClock().now() + parseDuration(text, 366 * 86_400_000);
  } catch {
    return Number.NaN;
  }
}

/** Parses the options `--from` and `--to`. Throws CliError with exit code 2. */
export function rangeOf(ends: { from?: string | undefined; to?: string | undefined }): TimeRange {
  try {
    return readTimeRange(ends, systemClock().now());
  } catch (error) {
    throw new CliError(messageOf(error), {
      code: 'usage',
      exitCode: exitCodes.usage,
      hint: 'both ends belong to the range',
      cause: error,
    });
  }
}

/** Parses an option that is a SHA-256 in hexadecimal. */
export function hashValue(text: string): string {
  const hash = text.toLowerCase();
  if (/^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new InvalidArgumentError('it must be 64 hexadecimal digits.');
}

/** Parses an option that is JSON. */
export function jsonValue(text: string): JsonValue {
  try {
    return readExactJson(text);
  } catch (error) {
    if (error instanceof InexactNumberError) throw new InvalidArgumentError(`${error.message}.`);
    throw new InvalidArgumentError('it is not valid JSON; put it in single quotes: \'{"a": 1}\'.');
  }
}

/** Parses an option that is a JSON array. */
export function jsonListValue(text: string): JsonValue[] {
  const value = jsonValue(text);
  if (Array.isArray(value)) return value;
  throw new InvalidArgumentError('it must be a JSON list: \'[{"say": "hello"}]\'.');
}

function wholeValue(text: string, least: number, most: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new InvalidArgumentError(`it must be a whole number from ${least} to ${most}.`);
}
