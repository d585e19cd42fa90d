import { expect, it } from 'vitest';
import { CallDeadline } from '../../../../src/actors/tools/mcp/call-deadline.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

const limits = { timeout: 1_000, total: 10_000 };

/** A wait for a person. */
function wait(deadline: CallDeadline) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = deadline.paused(() => promise);
  return () => {
    resolve();
    return over;
  };
}

it.each([
  ['ended', (deadline: CallDeadline) => deadline.end()],
  ['continued as a task', (deadline: CallDeadline) => deadline.relax()],
  ['asked another person', (deadline: CallDeadline) => void wait(deadline)],
])('a call that has %s is not late after the answer of a person', async (_, then) => {
  const clock = new ManualClock(0);
  const deadline = new CallDeadline(clock, limits);
  const answer = wait(deadline);
  then(deadline);
  await answer();
  clock.advance(limits.total - 1);
  expect(deadline.signal.aborted).toBe(false);
});

it('a call without progress is late after the answer of a person', async () => {
  const clock = new ManualClock(0);
  const deadline = new CallDeadline(clock, limits);
  const answer = wait(deadline);
  clock.advance(limits.timeout * 2);
  await answer();
  clock.advance(limits.timeout - 1);
  expect(deadline.signal.aborted).toBe(false);
  clock.advance(1);
  expect(deadline.signal.aborted).toBe(true);
});
