import { expect, it } from 'vitest';
import { ReusedCount } from '../../../src/actors/tasks/task-metrics.ts';

function counting(isExpensive: (count: number) => boolean) {
  let now = 0;
  let count = 0;
  let reads = 0;
  const counted = new ReusedCount(
    async () => {
      reads += 1;
      return count;
    },
    isExpensive,
    () => now,
  );
  return {
    counted,
    at(time: number, found: number) {
      now = time;
      count = found;
    },
    reads: () => reads,
  };
}

it('a cheap count is always fresh, and shared by concurrent readers', async () => {
  const { counted, at, reads } = counting(() => false);
  at(0, 1);
  expect(await Promise.all([counted.now(), counted.now()])).toEqual([1, 1]);
  at(1, 2);
  expect(await counted.now()).toBe(2);
  expect(reads()).toBe(2);
});

it('an expensive count is reused for 15 seconds, and renewed in the background', async () => {
  const { counted, at, reads } = counting((count) => count > 5);
  at(0, 10);
  expect(await counted.now()).toBe(10);
  at(14_999, 20);
  expect([await counted.now(), reads()]).toEqual([10, 1]);
  at(15_000, 20);
  expect(await counted.now()).toBe(10);
  expect([await counted.now(), reads()]).toEqual([20, 2]);
});

it('the last count is kept while the store cannot be read', async () => {
  let isAway = false;
  let now = 0;
  const read = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(10));
  const counted = new ReusedCount(
    read,
    () => true,
    () => now,
  );
  await counted.now();
  isAway = true;
  now = 20_000;
  expect([await counted.now(), await counted.now()]).toEqual([10, 10]);
});

it('a slow count is reused for 100 times its duration', async () => {
  let now = 0;
  let reads = 0;
  const slow = async () => {
    reads += 1;
    now += 1_000;
    return 10;
  };
  const counted = new ReusedCount(
    slow,
    () => true,
    () => now,
  );
  await counted.now();
  now = 100_999;
  expect([await counted.now(), reads]).toEqual([10, 1]);
  now = 101_000;
  expect([await counted.now(), reads]).toEqual([10, 2]);
});
