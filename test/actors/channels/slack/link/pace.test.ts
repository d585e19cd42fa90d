import { expect, it } from 'vitest';
import { Pace } from '../../../../../src/actors/channels/slack/link/pace.ts';
import { ManualClock } from '../../../../helpers/manual-clock.ts';

/** Whether a turn has come by now, without waiting for it. */
async function hasCome(turn: Promise<void>): Promise<boolean> {
  const waiting = Symbol('waiting');
  return (await Promise.race([turn, Promise.resolve(waiting)])) !== waiting;
}

it('lets messages follow each other at once until Slack asks for less', async () => {
  const pace = new Pace(new ManualClock(0));
  await pace.turn('C1');
  pace.taken('C1');
  await pace.turn('C1');
});

it('keeps a channel to one message a second for a minute, and no other channel', async () => {
  const clock = new ManualClock(0);
  const pace = new Pace(clock);
  pace.slow('C1');
  await pace.turn('C2');
  const first = pace.turn('C1');
  clock.advance(1_049);
  expect(await hasCome(first)).toBe(false);
  clock.advance(1);
  await first;
  pace.taken('C1');
  const second = pace.turn('C1');
  expect(await hasCome(second)).toBe(false);
  clock.advance(1_050);
  await second;
  clock.advance(60_000);
  pace.taken('C1');
  await pace.turn('C1');
  await pace.turn('C1');
});
