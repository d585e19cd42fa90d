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

/** The usual ranges of time up to now. */
export const presets = [
  { name: 'hour', says: 'last hour' },
  { name: 'today', says: 'today' },
  { name: 'week', says: 'last 7 days' },
] as const;

/** Returns the ends of a usual range in RFC 3339; both are empty for any other name. */
export function rangeOfPreset(name: string, now: Date): { from: string; to: string } {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const begins: Record<string, number> = {
    hour: now.getTime() - 3_600_000,
    today: midnight.getTime(),
    week: now.getTime() - 604_800_000,
  };
  const begin = begins[name];
  return { from: begin === undefined ? '' : new Date(begin).toISOString(), to: '' };
}

/** A day of the browser's zone with the entries of that day, such as `Tue, Nov 24`. */
export interface DayOf<Entry> {
  day: string;
  entries: Entry[];
}

/** Groups entries by the day of their time, in their order. */
export function byDay<Entry>(
  entries: readonly Entry[],
  timeOf: (entry: Entry) => string,
): DayOf<Entry>[] {
  const format = new Intl.DateTimeFormat(undefined, {
    ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' },
  });
  const days: DayOf<Entry>[] = [];
  for (const entry of entries) {
    const at = new Date(timeOf(entry));
    const day = Number.isNaN(at.getTime()) ? 'Without a time' : format.format(at);
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(entry);
    else days.push({ day, entries: [entry] });
  }
  return days;
}
