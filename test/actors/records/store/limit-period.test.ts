import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { CountedTimes, countedTime } from '../../../../src/actors/records/store/limit-period.ts';

const hour = 3_600_000;
const at = (text: string) => Date.parse(text);
const day = (zone: string) => ({ calendar: 'day', zone }) as const;

/** Returns the first counted moment of a period, its end and its length in hours. */
function periodAt(period: Parameters<typeof countedTime>[0], now: string) {
  const { after, until } = countedTime(period, at(now));
  const iso = (moment: number) => new Date(moment).toISOString();
  return [iso(after + 1), iso(until), (until - after - 1) / hour];
}

describe('the period of a limit', () => {
  it('rolls: a call counts for exactly its length', () => {
    expect(countedTime({ rolling: 24 * hour }, 100 * hour)).toEqual({
      after: 76 * hour,
      until: 124 * hour,
    });
  });

  it('is a day of 23 or 25 hours when the clocks change', () => {
    expect([
      periodAt(day('Europe/Berlin'), '2026-03-29T12:00:00Z'),
      periodAt(day('Europe/Berlin'), '2026-10-25T12:00:00Z'),
      // The second pass of the hour that repeats.
      periodAt(day('Europe/Berlin'), '2026-10-25T01:30:00Z'),
      periodAt(day('Europe/Berlin'), '2026-07-01T22:00:00Z'),
      periodAt(day('UTC'), '2026-03-29T00:00:00Z'),
    ]).toEqual([
      ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 23],
      ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 25],
      ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 25],
      ['2026-07-01T22:00:00.000Z', '2026-07-02T22:00:00.000Z', 24],
      ['2026-03-29T00:00:00.000Z', '2026-03-30T00:00:00.000Z', 24],
    ]);
  });

  it('is a day also if its midnight does not exist', () => {
    expect([
      periodAt(day('Asia/Beirut'), '2022-03-27T12:00:00Z'),
      periodAt(day('Asia/Beirut'), '2022-03-26T12:00:00Z'),
    ]).toEqual([
      ['2022-03-26T22:00:00.000Z', '2022-03-27T21:00:00.000Z', 23],
      ['2022-03-25T22:00:00.000Z', '2022-03-26T22:00:00.000Z', 24],
    ]);
  });

  it('is a week from Monday, and a month from its first day', () => {
    const week = { calendar: 'week', zone: 'Europe/Berlin' } as const;
    const month = { calendar: 'month', zone: 'Europe/Berlin' } as const;
    expect([
      periodAt(week, '2026-03-29T21:59:59.999Z'),
      periodAt(week, '2026-03-29T22:00:00Z'),
      periodAt(month, '2026-02-28T23:00:00Z'),
    ]).toEqual([
      ['2026-03-22T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 167],
      ['2026-03-29T22:00:00.000Z', '2026-04-05T22:00:00.000Z', 168],
      ['2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z', 743],
    ]);
  });

  it('follows on the one before without a gap, and holds the moment it was asked for', () => {
    const zones = ['Europe/Berlin', 'Asia/Beirut', 'America/Sao_Paulo', 'Pacific/Apia'];
    const times = new CountedTimes();
    fc.assert(
      fc.property(
        fc.constantFrom('day' as const, 'week' as const, 'month' as const),
        fc.constantFrom(...zones),
        fc.integer({ min: at('2005-01-01'), max: at('2030-01-01') }),
        (calendar, zone, now) => {
          const period = { calendar, zone };
          const { after, until } = times.of(period, now);
          expect(after < now && now < until).toBe(true);
          expect(countedTime(period, until).after).toBe(until - 1);
          expect(countedTime(period, after + 1)).toEqual({ after, until });
          const local = Temporal.Instant.fromEpochMilliseconds(after + 1).toZonedDateTimeISO(zone);
          if (calendar === 'week') expect(local.dayOfWeek).toBe(1);
          if (calendar === 'month') expect(local.day).toBe(1);
        },
      ),
    );
  });
});
