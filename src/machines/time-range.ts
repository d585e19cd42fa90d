import { parseDuration } from './duration.ts';

/** A range of time in epoch milliseconds, both ends inclusive; an absent end is open. */
export interface TimeRange {
  from?: number | undefined;
  to?: number | undefined;
}

/** Maximum age of an end that is written as a duration: 100 years in milliseconds. */
const longest = 36_525 * 86_400_000;

/**
 * Parses the ends of a range. Each is a time in RFC 3339, or a duration such as `7d`, which means that long before
 * `now`. An absent or empty end is open. Throws RangeError with a message that names the end.
 *
 * @param now epoch milliseconds
 */
export function readTimeRange(
  ends: { from?: string | undefined; to?: string | undefined },
  now: number,
): TimeRange {
  const { from, to } = { from: readEnd('from', ends.from, now), to: readEnd('to', ends.to, now) };
  if (from !== null && to !== null && from > to) throw new RangeError('from must not be after to');
  return { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
}

/** Returns whether a time in epoch milliseconds lies in a range; NaN lies only in one without ends. */
export function isInRange(at: number, { from, to }: TimeRange): boolean {
  return (from === undefined || at >= from) && (to === undefined || at <= to);
}

function readEnd(name: string, text: string | undefined, now: number): number | null {
  if (text === undefined || text === '') return null;
  const time = readTime(text) ?? timeBefore(now, text);
  if (time !== null) return time;
  throw new RangeError(
    `${name} must be a time such as 2026-07-01T09:00:00Z, or a duration before now such as 7d`,
  );
}

const written =
  /^(\d{4})-(\d{2})-(\d{2})[Tt][0-2]\d:[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-][0-2]\d:[0-5]\d)$/;

/** Parses a time in RFC 3339; `null` if it is none, or a day that no month has. */
function readTime(text: string): number | null {
  const [, year, month, day] = written.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return null;
  const time = Date.parse(text.toUpperCase());
  return day <= new Date(Date.UTC(year, month, 0)).getUTCDate() && !Number.isNaN(time)
    ? time
    : null;
}

function timeBefore(now: number, text: string): number | null {
  try {
    return now - parseDuration(text, longest);
  } catch {
    return null;
  }
}
