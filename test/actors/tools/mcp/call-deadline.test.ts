import { describe, expect, it } from 'vitest';
import { CallDeadline } from '../../../../src/actors/tools/mcp/call-deadline.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

const limits = { timeout: 10, total: 100 };

describe('the time of a call', () => {
  it('is over without progress, and in all', () => {
    const clock = new ManualClock(0);
    const deadline = new CallDeadline(clock, limits);
    clock.advance(9);
    deadline.moved();
    clock.advance(9);
    expect(deadline.signal.aborted).toBe(false);
    clock.advance(1);
    expect(deadline.signal.aborted).toBe(true);
    const other = new CallDeadline(clock, { timeout: null, total: 100 });
    clock.advance(99);
    expect(other.signal.aborted).toBe(false);
    clock.advance(1);
    expect(other.signal.aborted).toBe(true);
  });

  it('does not pass for lack of progress while a person is asked, whatever the server reports', async () => {
    const clock = new ManualClock(0);
    const deadline = new CallDeadline(clock, limits);
    const answered = Promise.withResolvers<string>();
    const asked = deadline.paused(() => answered.promise);
    deadline.moved();
    clock.advance(50);
    expect(deadline.signal.aborted).toBe(false);
    answered.resolve('yes');
    expect(await asked).toBe('yes');
    clock.advance(9);
    expect(deadline.signal.aborted).toBe(false);
    clock.advance(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  it('is only the total time of a call that goes on as a task', () => {
    const clock = new ManualClock(0);
    const deadline = new CallDeadline(clock, limits);
    deadline.relax();
    deadline.moved();
    clock.advance(99);
    expect(deadline.signal.aborted).toBe(false);
    clock.advance(1);
    expect(deadline.signal.aborted).toBe(true);
  });

  it('is over with the call', () => {
    const clock = new ManualClock(0);
    const deadline = new CallDeadline(clock, limits);
    deadline.end();
    clock.advance(1_000);
    expect(deadline.signal.aborted).toBe(false);
  });
});
