import { expect, it } from 'vitest';
import { doubledPause } from '../../src/machines/back-off.ts';

it.each([
  [0, 1_000],
  [1, 1_000],
  [2, 2_000],
  [6, 32_000],
  [7, 60_000],
  [5_000, 60_000],
])('after %d failures the pause is %d ms', (failures, pause) => {
  expect(doubledPause(failures, 60_000)).toBe(pause);
});
