import { describe, expect, it } from 'vitest';
import { isInRange, readTimeRange } from '../../src/machines/time-range.ts';

const now = Date.parse('2026-07-10T12:00:00.000Z');
const at = (text: string): number => Date.parse(text);

describe('readTimeRange', () => {
  it.each([
    [{}, {}],
    [{ from: '', to: '' }, {}],
    [{ from: '7d' }, { from: at('2026-07-03T12:00:00.000Z') }],
    [
      { from: '90d', to: '1h30m' },
      { from: now - 90 * 86_400_000, to: now - 5_400_000 },
    ],
    [{ to: '0' }, { to: now }],
    [
      { from: '2026-07-01T09:00:00Z', to: '2026-07-01t11:30:00.25+02:00' },
      { from: at('2026-07-01T09:00:00.000Z'), to: at('2026-07-01T09:30:00.250Z') },
    ],
    [
      { from: '2028-02-29T00:00:00Z', to: '2028-02-29T00:00:00Z' },
      { from: at('2028-02-29T00:00:00Z'), to: at('2028-02-29T00:00:00Z') },
    ],
  ])('reads %o', (ends, range) => {
    expect(readTimeRange(ends, now)).toStrictEqual(range);
  });

  it.each([
    'yesterday',
    '7',
    '-7d',
    '40000d',
    '2026-07-01',
    '2026-07-01T09:00:00',
    '2026-07-01T09:00:00 02:00',
    '2026-02-30T09:00:00Z',
    '2026-13-01T09:00:00Z',
    '2026-07-01T25:00:00Z',
  ])('refuses %s', (text) => {
    const form = 'a time such as 2026-07-01T09:00:00Z, or a duration before now such as 7d';
    expect(() => readTimeRange({ from: text }, now)).toThrow(
      new RangeError(`from must be ${form}`),
    );
    expect(() => readTimeRange({ to: text }, now)).toThrow(new RangeError(`to must be ${form}`));
  });

  it('refuses an end before the beginning', () => {
    expect(() => readTimeRange({ from: '1d', to: '2d' }, now)).toThrow(
      new RangeError('from must not be after to'),
    );
  });
});

describe('isInRange', () => {
  it('includes both ends, and every time beyond an open end', () => {
    const times = [1, 2, 3, 4];
    expect(times.filter((time) => isInRange(time, { from: 2, to: 3 }))).toEqual([2, 3]);
    expect(times.filter((time) => isInRange(time, { from: 3 }))).toEqual([3, 4]);
    expect(times.filter((time) => isInRange(time, {}))).toEqual(times);
  });
});
