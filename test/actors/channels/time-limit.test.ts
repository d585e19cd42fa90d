import { describe, expect, it } from 'vitest';
import { late, pause, within } from '../../../src/actors/channels/time-limit.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('a time limit', () => {
  it('returns a result that arrives in time, and leaves no timer', async () => {
    const clock = new ManualClock(0);
    expect(await within(clock, 100, Promise.resolve('in time'))).toBe('in time');
    await expect(within(clock, 100, Promise.reject(new Error('no')))).rejects.toThrow('no');
    await Promise.resolve();
    expect(clock.pending).toBe(0);
  });

  it('reports a late result', async () => {
    const clock = new ManualClock(0);
    const { promise, resolve } = Promise.withResolvers<string>();
    const answer = within(clock, 100, promise);
    clock.advance(100);
    expect(await answer).toBe(late);
    resolve('too late');
  });
});

describe('a pause', () => {
  it('resolves after its time', async () => {
    const clock = new ManualClock(0);
    const over = pause(clock, 100);
    clock.advance(100);
    expect(await over).toBeUndefined();
  });
});
