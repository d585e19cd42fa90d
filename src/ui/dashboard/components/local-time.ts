/** The name of the browser's time zone, such as `Europe/Berlin`. */
export function zoneName(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns a time as the local minute of an input; empty if it is no RFC 3339 time. */
export function localMinute(time: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return '';
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns the first or the last millisecond of an input's local minute in RFC 3339; empty for an empty input. */
export function timeOfMinute(minute: string, part: 'first' | 'last'): string {
  if (minute === '') return '';
  return new Date(new Date(minute).getTime() + (part === 'first' ? 0 : 59_999)).toISOString();
}

/** Returns false if a time lies outside of a range; an end that is empty or no RFC 3339 time excludes nothing. */
export function isBetween(time: string, { from, to }: { from: string; to: string }): boolean {
  const at = Date.parse(time);
  return !(at < Date.parse(from)) && !(at > Date.parse(to));
}
