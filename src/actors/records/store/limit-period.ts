import { Temporal } from 'temporal-polyfill';
import type { LimitPeriod } from '../../../machines/domain/ledger.ts';

/** The calls that count for a limit at a moment, in epoch milliseconds. */
export interface CountedTime {
  /** A call counts if it started after this moment. */
  after: number;
  /** A call that starts now counts until this moment. */
  until: number;
}

type Calendar = Extract<LimitPeriod, { calendar: string }>;

/** Returns which calls count for a limit at a moment. A week begins on Monday. */
export function countedTime(period: LimitPeriod, now: number): CountedTime {
  if ('rolling' in period) return { after: now - period.rolling, until: now + period.rolling };
  const begin = beginOf(period, now);
  // Midnight may be missing on a day, so the end is not the begin plus a number of hours.
  const until = begin.add({ [`${period.calendar}s`]: 1 }).startOfDay().epochMilliseconds;
  return { after: begin.epochMilliseconds - 1, until };
}

function beginOf({ calendar, zone }: Calendar, now: number): Temporal.ZonedDateTime {
  const day = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).startOfDay();
  if (calendar === 'day') return day;
  const back = calendar === 'week' ? day.dayOfWeek - 1 : day.day - 1;
  return day.subtract({ days: back }).startOfDay();
}

/** Returns which calls count for limits. Remembers the current period of each calendar, because a zone takes long. */
export class CountedTimes {
  readonly #current = new Map<string, CountedTime>();

  of(period: LimitPeriod, now: number): CountedTime {
    if ('rolling' in period) return countedTime(period, now);
    const name = `${period.calendar} ${period.zone}`;
    const known = this.#current.get(name);
    if (known !== undefined && known.after < now && now < known.until) return known;
    const found = countedTime(period, now);
    this.#current.set(name, found);
    return found;
  }
}
