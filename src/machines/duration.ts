const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

const day = 24 * hour;

/** Milliseconds per duration unit. */
const units: Record<string, number> = { ms: 1, s: second, m: minute, h: hour, d: day };

/** Maximum configurable duration: 24 days in milliseconds. Timers beyond 2^31 ms fire immediately. */
export const maximumDuration = 24 * day;

/**
 * Parses a Go-style duration such as `90s`, `1h30m`, `1.5h` or `250ms`, or days (`7d`), to whole milliseconds. Throws
 * RangeError with a message that does not repeat the text (docs/contract/configuration.md).
 *
 * @param maximum the longest duration in milliseconds, whole hours
 */
export function parseDuration(text: string, maximum = maximumDuration): number {
  if (text === '0') return 0;
  if (text.trim() === '') throw new RangeError(`a duration must not be empty; write ${example}`);
  if (text.startsWith('-'))
    throw new RangeError(`a duration must not be negative; write ${example}`);
  if (/^[\d.]+$/.test(text)) throw new RangeError('a duration needs a unit; write 5s, 5m or 5h');
  const total = sumOfTerms(text);
  if (total > maximum) {
    const days = Math.floor(maximum / day);
    throw new RangeError(`a duration must be at most ${days} days (${maximum / hour}h)`);
  }
  return Math.round(total);
}

/** Formats whole, non-negative milliseconds as a Go duration: `5m0s`, `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < second) return `${ms}ms`;
  const hours = Math.floor(ms / hour);
  const minutes = Math.floor((ms % hour) / minute);
  const seconds = `${(ms % minute) / second}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

const example = '90s, 5m or 1h30m';

function sumOfTerms(text: string): number {
  const term = /(\d+\.?\d*|\.\d+)(ms|[dhms])/y;
  let total = 0;
  while (term.lastIndex < text.length) {
    const [, amount, unit] = term.exec(text) ?? [];
    if (amount === undefined || unit === undefined) {
      throw new RangeError(`this is not a duration; write ${example}`);
    }
    total += Number(amount) * (units[unit] ?? Number.NaN);
  }
  return total;
}
