/** The most seconds that are told; readers of the header count in 32 bits. */
const most = 2 ** 31 - 1;

const timestamp = /^((\d{4})-(\d\d)-(\d\d))T(\d\d:\d\d:\d\d)(?:\.(\d{1,3})\d*)?(Z|[+-]\d\d:\d\d)$/i;

/**
 * Returns in whole seconds, rounded up, how long it is until an RFC 3339 timestamp; 0 when it has passed and `null`
 * when it cannot be read (docs/contract/admission.md).
 *
 * @param now epoch milliseconds
 */
export function retryAfter(resetAt: string, now: number): number | null {
  const at = readTimestamp(resetAt);
  if (at === null) return null;
  return Math.min(most, Math.max(0, Math.ceil((at - now) / 1_000)));
}

/** Returns epoch milliseconds; what is finer than a millisecond is left out. */
function readTimestamp(text: string): number | null {
  const [, date, year, month, day, time, fraction = '0', offset] = timestamp.exec(text) ?? [];
  if (date === undefined || offset === undefined) return null;
  // Date.parse takes the 30th of February for the 1st or 2nd of March.
  const midnight = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (midnight.getUTCDate() !== Number(day)) return null;
  const at = Date.parse(`${date}T${time}.${fraction}${offset.toUpperCase()}`);
  return Number.isNaN(at) ? null : at;
}
