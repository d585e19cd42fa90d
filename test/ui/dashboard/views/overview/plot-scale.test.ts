import { expect, it } from 'vitest';
import { spanWords } from '../../../../../src/ui/dashboard/components/span-words.ts';
import {
  countTicks,
  durationTicks,
  shownLabels,
} from '../../../../../src/ui/dashboard/views/overview/plot-scale.ts';

it.each([
  [0, [0, 1]],
  [1, [0, 1]],
  [5, [0, 2, 4, 6]],
  [58, [0, 20, 40, 60]],
  [1_068, [0, 500, 1_000, 1_500]],
])('an axis up to %d has round ticks', (most, ticks) => {
  expect(countTicks(most)).toEqual(ticks);
});

it('an axis of durations contains all values', () => {
  expect(durationTicks([90_000, 7_000_000])).toEqual({
    ...{ from: 60_000, to: 14_400_000, ticks: [60_000, 600_000, 3_600_000, 14_400_000] },
  });
  expect(durationTicks([])).toEqual({ from: 60_000, to: 600_000, ticks: [60_000] });
});

it('labels have room, and the last day has one', () => {
  expect([...shownLabels(30, 4)]).toEqual([29, 21, 13, 5]);
  expect([...shownLabels(2, 8)]).toEqual([1, 0]);
});

it.each([
  [420, '420 ms'],
  [1_400, '1.4 s'],
  [38_000, '38 s'],
  [90_000, '1 min 30 s'],
  [300_000, '5 min'],
  [2_310_000, '38 min'],
  [4_800_000, '1 h 20 min'],
  [86_400_000, '1 day'],
  [97_200_000, '1 day 3 h'],
  [10 * 86_400_000 + 3_600_000, '10 days'],
])('%d ms has at most two units', (time, words) => {
  expect(spanWords(time)).toBe(words);
});
