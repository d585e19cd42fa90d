import { expect, it } from 'vitest';
import { spokenWords } from '../../../../src/ui/dashboard/components/time-words.ts';

it.each([
  [161_000, '2 minutes 41 seconds'],
  [60_000, '1 minute'],
  [0, '0 seconds'],
  [20_461_000, '5 hours 41 minutes'],
  [90_061_000, '1 day 1 hour'],
])('the duration of %i milliseconds is %j', (milliseconds, words) => {
  expect(spokenWords(milliseconds)).toBe(words);
});
