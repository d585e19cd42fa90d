import { expect, it } from 'vitest';
import { byDay, rangeOfPreset } from '../../../../src/ui/dashboard/components/local-time.ts';

const now = new Date('2026-11-24T10:20:30.000Z');

it.each([
  ['hour', '2026-11-24T09:20:30.000Z'],
  ['week', '2026-11-17T10:20:30.000Z'],
  ['today', new Date(now.getFullYear(), now.getMonth(), now.getDate()).toISOString()],
  ['', ''],
])('the range %s begins at %s and has no end', (name, from) => {
  expect(rangeOfPreset(name, now)).toEqual({ from, to: '' });
});

it('entries are grouped by the day of their time, in their order', () => {
  const times = ['2026-11-23T12:00:00Z', '2026-11-23T13:00:00Z', 'never', '2026-11-24T12:00:00Z'];
  expect(byDay(times, (time) => time).map(({ entries }) => entries)).toEqual([
    times.slice(0, 2),
    ['never'],
    ['2026-11-24T12:00:00Z'],
  ]);
  expect(byDay(times, (time) => time)[1]?.day).toBe('Without a time');
});
