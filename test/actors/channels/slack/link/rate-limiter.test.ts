import { expect, it } from 'vitest';
import { RateLimiter } from '../../../../../src/actors/channels/slack/link/rate-limiter.ts';
import { ManualClock } from '../../../../helpers/manual-clock.ts';

/** Whether a turn has come by now, without waiting for it. */
async function hasCome(turn: Promise<void>): Promise<boolean> {
  const waiting = Symbol('waiting');
  return (await Promise.race([turn, Promise.resolve(waiting)])) !== waiting;
}

it('messages follow each other at once until Slack limits the rate', async () => {
  const limiter = new RateLimiter(new ManualClock(0));
  await limiter.turn('C1');
  limiter.taken('C1');
  await limiter.turn('C1');
});

it('a limited channel gets one message a second for a minute, and other channels are not limited', async () => {
  const clock = new ManualClock(0);
  const limiter = new RateLimiter(clock);
  limiter.slow('C1');
  await limiter.turn('C2');
  const first = limiter.turn('C1');
  clock.advance(1_049);
  expect(await hasCome(first)).toBe(false);
  clock.advance(1);
  await first;
  limiter.taken('C1');
  const second = limiter.turn('C1');
  expect(await hasCome(second)).toBe(false);
  clock.advance(1_050);
  await second;
  clock.advance(60_000);
  limiter.taken('C1');
  await limiter.turn('C1');
  await limiter.turn('C1');
});
