import { describe, expect, it } from 'vitest';
import { RecentArrivals } from '../../../../../src/actors/channels/slack/link/recent-arrivals.ts';
import { ManualClock } from '../../../../helpers/manual-clock.ts';

describe('the memory of arrivals', () => {
  it('recognizes an event by any of its ids', async () => {
    const recent = new RecentArrivals<string>(new ManualClock(1_000));
    expect(recent.find(['one'])).toBeUndefined();
    recent.remember(['one', 'two'], Promise.resolve('answer'));
    expect(await recent.find(['other', 'two'])).toBe('answer');
    recent.forget(['one', 'two']);
    expect(recent.find(['one', 'two'])).toBeUndefined();
  });

  it('expires after an hour', () => {
    const clock = new ManualClock(1_000);
    const recent = new RecentArrivals<string>(clock);
    recent.remember(['one'], Promise.resolve('answer'));
    clock.jump(3_600_000);
    expect(recent.find(['one'])).toBeDefined();
    clock.jump(1);
    expect(recent.find(['one'])).toBeUndefined();
  });

  it('is limited in size', () => {
    const recent = new RecentArrivals<string>(new ManualClock(1_000));
    const answer = Promise.resolve('answer');
    for (let count = 0; count <= 10_000; count += 1) recent.remember([`${count}`], answer);
    expect(recent.find(['0'])).toBeUndefined();
    expect(recent.find(['1'])).toBeDefined();
  });
});
