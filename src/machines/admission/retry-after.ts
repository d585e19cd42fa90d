/** Maximum value in seconds; readers of the header may use 32-bit integers. */
const most = 2 ** 31 - 1;

const timestamp = /^((\d{4})-(\d\d)-(\d\d))T(\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?(Z|[+-]\d\d:\d\d)$/i;

/**
 * Returns the whole seconds, rounded up, until an RFC 3339 timestamp; 0 if it has passed and `null` if it is invalid
 * (docs/contract/admission.md).
 *
 * @param now epoch milliseconds
 */
export function retryAfter(resetAt: string, now: number): number | null {
  const at = readTimestamp(resetAt);
  if (at === null) return null;
  return Math.min(most, Math.max(0, Math.ceil((at - now) / 1_000)));
}

/** Returns epoch milliseconds, truncated. */
function readTimestamp(text: string): number | null {
  const [, date, year, month, day, time, fraction = '0', offset] = timestamp.exec(text) ?? [];
  if (date === undefined || offset === undefined) return null;
  // Date.parse accepts 30 February as 1 or 2 March.
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (midnight.getUTCDate() !== Number(day)) return null;
  const at = Date.parse(`${date}T${time}.${fraction}${offset.toUpperCase()}`);
  return Number.isNaN(at) ? null : at;
}
