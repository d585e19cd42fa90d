/** Maximum accepted delay, in milliseconds. */
const most = 60 * 60 * 1_000;

/**
 * Parses `Retry-After` (seconds or an HTTP date) as milliseconds from `now`, at most one hour; `null` if it is absent
 * or invalid.
 *
 * @param now epoch milliseconds
 */
export function readRetryAfter(header: string | null, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(most, Number(text) * 1_000);
  if (!text.endsWith(' GMT')) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(most, Math.max(0, at - now));
}
