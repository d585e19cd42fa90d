import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { retryAfter } from '../../../src/machines/admission/retry-after.ts';

const now = Date.parse('2026-11-21T12:00:00.000Z');

describe('the wait before a retry', () => {
  it.each([
    ['2026-11-21T12:00:00Z', 0],
    ['2026-11-21T12:00:00.001Z', 1],
    ['2026-11-21T12:00:01Z', 1],
    ['2026-11-21T12:00:01.0005Z', 1],
    ['2026-11-21T12:00:01.5Z', 2],
    ['2026-11-21T12:01:00.000000000Z', 60],
    ['2026-11-21t12:01:00z', 60],
    ['2026-11-21T14:00:00+02:00', 0],
    ['2026-11-21T14:30:00+02:00', 1_800],
    ['2026-11-21T04:00:10-08:00', 10],
    ['2026-11-21T17:30:07+05:30', 7],
    ['2024-02-29T00:00:00Z', 0],
    ['1970-01-01T00:00:00Z', 0],
    ['0001-01-01T00:00:00Z', 0],
    ['9999-12-31T23:59:59Z', 2 ** 31 - 1],
  ])('until %s is %i seconds', (resetAt, seconds) => {
    expect(retryAfter(resetAt, now)).toBe(seconds);
  });

  it.each([
    '',
    'tomorrow',
    '2026-11-21',
    '2026-11-21T12:00Z',
    '2026-11-21T12:00:00',
    '2026-11-21 12:00:00Z',
    '2026-11-21T12:00:00.Z',
    '2026-11-21T12:00:00+0200',
    '2026-11-21T25:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-11-00T00:00:00Z',
    ' 2026-11-21T12:00:00Z',
    '2026-11-21T12:00:00Z\n',
    '12026-11-21T12:00:00Z',
    '1795262400',
    'Sat, 21 Nov 2026 12:00:00 GMT',
  ])('until %j is unknown', (resetAt) => {
    expect(retryAfter(resetAt, now)).toBeNull();
  });

  it('is rounded up and never negative', () => {
    const dates = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2090-01-01') });
    fc.assert(
      fc.property(dates, dates, (at, from) => {
        const expected = Math.max(0, Math.ceil((at.getTime() - from.getTime()) / 1_000));
        expect(retryAfter(at.toISOString(), from.getTime())).toBe(Math.min(expected, 2 ** 31 - 1));
      }),
    );
  });

  it('is a whole number of seconds, or undefined for any other string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const seconds = retryAfter(text, now);
        expect(seconds === null || (Number.isSafeInteger(seconds) && seconds >= 0)).toBe(true);
      }),
    );
  });
});
