import { Temporal } from 'temporal-polyfill';

/** Who is on call, by turns or by the days of a week. Times without a zone are local times of the rotation. */
export interface Rotation {
  /** IANA time zone. */
  zone: string;
  /** People in the order of their turns; empty for a rotation by shifts. */
  people: readonly string[];
  /** Local date and time of the first turn, such as `2026-11-02T09:00`. */
  starts: string;
  /** Length of a turn in days. */
  days: number;
  shifts: readonly Shift[];
  /** Times in which another person is on call; epoch milliseconds. */
  overrides: readonly { person: string; from: number; until: number }[];
}

/** A part of every week. */
export interface Shift {
  person: string;
  /** 1 is Monday, 7 is Sunday. */
  days: readonly number[];
  /** Local times in minutes since midnight; `to` is at most 1,440. */
  from: number;
  to: number;
}

/** How far back an earlier offset is looked up, in hours; no hour repeats for longer. */
const longestRepeat = 3;

/**
 * Returns the local time of a moment; while an hour repeats because the clocks went back, the end of its first pass, so
 * that a handover in it happens once.
 */
function localTime(at: number, zone: string): Temporal.PlainDateTime {
  const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
  const local = zoned.toPlainDateTime();
  if (zoned.subtract({ hours: longestRepeat }).offsetNanoseconds <= zoned.offsetNanoseconds) {
    return local;
  }
  const change = zoned.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  const passed = change?.subtract({ nanoseconds: 1 }).toPlainDateTime() ?? local;
  return Temporal.PlainDateTime.compare(local, passed) < 0 ? passed : local;
}

/**
 * Returns the people who are on call at a moment. A person who is away is replaced by the next one in the order of turns;
 * an override does not apply while its person is away.
 *
 * @param at epoch milliseconds
 */
export function onDuty(
  rotation: Rotation,
  at: number,
  isAway: (person: string) => boolean,
): string[] {
  const override = rotation.overrides.find(({ from, until }) => from <= at && at < until);
  if (override !== undefined && !isAway(override.person)) return [override.person];
  const local = localTime(at, rotation.zone);
  if (rotation.people.length === 0) {
    const minute = local.hour * 60 + local.minute;
    const isNow = ({ days, from, to }: Shift) =>
      days.includes(local.dayOfWeek) && from <= minute && minute < to;
    return rotation.shifts
      .filter(isNow)
      .map(({ person }) => person)
      .filter((person) => !isAway(person));
  }
  const { people, starts, days } = rotation;
  const since = Temporal.PlainDateTime.from(starts).until(local, {
    largestUnit: 'day',
  });
  const passed = since.sign < 0 && !isWholeDays(since) ? since.days - 1 : since.days;
  const turn = Math.floor(passed / days);
  const first = ((turn % people.length) + people.length) % people.length;
  const order = [...people.slice(first), ...people.slice(0, first)];
  return order.filter((person) => !isAway(person)).slice(0, 1);
}

/** Longest time searched for a handover, in milliseconds: two turns of two weeks, and an absence. */
const furthest = 62 * 86_400_000;

/** Interval of the search, in milliseconds. No shift is shorter than a minute; shorter ones than this may be missed. */
const step = 900_000;

/**
 * Returns the next moment at which other people are on call, to the second; `null` if there is none within two months.
 *
 * @param at epoch milliseconds
 */
export function handoverAfter(
  rotation: Rotation,
  at: number,
  isAway: (person: string, at: number) => boolean,
): number | null {
  const dutyAt = (moment: number): string =>
    onDuty(rotation, moment, (person) => isAway(person, moment)).join(' ');
  const now = dutyAt(at);
  for (let before = at; before < at + furthest; before += step) {
    if (dutyAt(before + step) === now) continue;
    let [same, other] = [before, before + step];
    while (other - same > 1_000) {
      const middle = Math.floor((same + other) / 2);
      if (dutyAt(middle) === now) same = middle;
      else other = middle;
    }
    return Math.floor(other / 1_000) * 1_000;
  }
  return null;
}

function isWholeDays(duration: Temporal.Duration): boolean {
  return duration.abs().subtract({ days: Math.abs(duration.days) }).blank;
}

const week = 7 * 1_440;

const dayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Returns the faults of a rotation by shifts: minutes of the week with no one or with two people, and overlapping overrides. */
export function rotationFaults({ people, shifts, overrides }: Rotation): string[] {
  const faults: string[] = [];
  if (people.length === 0) {
    const owners = Array.from({ length: week }, () => 0);
    for (const { days, from, to } of shifts) {
      for (const day of days) {
        for (let minute = from; minute < to; minute += 1) {
          const at = (day - 1) * 1_440 + minute;
          owners[at] = (owners[at] ?? 0) + 1;
        }
      }
    }
    const gap = owners.indexOf(0);
    if (gap >= 0) faults.push(`no one is on call from ${momentOf(gap)}; add a shift`);
    const double = owners.findIndex((count) => count > 1);
    if (double >= 0) faults.push(`two shifts overlap at ${momentOf(double)}; shorten one`);
  }
  const sorted = overrides.toSorted((one, other) => one.from - other.from);
  const clash = sorted.find((one, index) => (sorted[index - 1]?.until ?? 0) > one.from);
  if (clash !== undefined) {
    faults.push(`two overrides overlap at ${new Date(clash.from).toISOString()}; shorten one`);
  }
  return faults;
}

function momentOf(minuteOfWeek: number): string {
  const [day, minute] = [Math.floor(minuteOfWeek / 1_440), minuteOfWeek % 1_440];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${dayNames[day]} ${two(Math.floor(minute / 60))}:${two(minute % 60)}`;
}
