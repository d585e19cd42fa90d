import { expect, it } from 'vitest';
import { readRetryAfter } from '../../src/actors/read-retry-after.ts';

const now = Date.UTC(2026, 2, 4, 5, 6, 7);

it.each([
  [null, null],
  ['', null],
  ['soon', null],
  ['-3', null],
  ['1.5', null],
  ['2026-03-04T05:06:17Z', null],
  ['nonsense GMT', null],
  ['0', 0],
  [' 12 ', 12_000],
  ['999999999999', 3_600_000],
  ['Wed, 04 Mar 2026 05:06:17 GMT', 10_000],
  ['Wed, 04 Mar 2026 05:06:00 GMT', 0],
  ['Thu, 04 Mar 2027 05:06:17 GMT', 3_600_000],
])('the retry header %j is %j ms', (header, milliseconds) => {
  expect(readRetryAfter(header, now)).toBe(milliseconds);
});
