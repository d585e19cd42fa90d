import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pace } from '../../../../../src/ui/dashboard/views/audit/pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function paced() {
  const passed: number[] = [];
  return { passed, ...pace(100, (count) => passed.push(count)) };
}

it('the pace passes the first value at once, then the newest after each pause', () => {
  const { give, passed } = paced();
  give(1);
  give(2);
  give(3);
  expect(passed).toEqual([1]);
  vi.advanceTimersByTime(99);
  expect(passed).toEqual([1]);
  vi.advanceTimersByTime(1);
  expect(passed).toEqual([1, 3]);
  give(4);
  vi.advanceTimersByTime(99);
  expect(passed).toEqual([1, 3]);
  vi.advanceTimersByTime(1);
  expect(passed).toEqual([1, 3, 4]);
});

it('the pace passes the last value once, and is fast again after a pause', () => {
  const { give, passed } = paced();
  give(1);
  give(2);
  vi.advanceTimersByTime(1_000);
  expect([passed, vi.getTimerCount()]).toEqual([[1, 2], 0]);
  give(3);
  expect(passed).toEqual([1, 2, 3]);
});

it('the pace passes nothing after it is stopped', () => {
  const { give, passed, stop } = paced();
  give(1);
  give(2);
  stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(1_000);
  expect(passed).toEqual([1]);
  stop();
  expect(passed).toEqual([1]);
});
