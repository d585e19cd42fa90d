import { describe, expect, it } from 'vitest';
import type { TaskEar } from '../../../../src/actors/channels/conversations/agent-surface.ts';
import { followTurn } from '../../../../src/actors/channels/conversations/follow-turn.ts';
import { aTurn } from '../../../helpers/chat-thread.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

const deaf: TaskEar = { held: () => undefined, resumed: () => undefined, ended: () => undefined };

/** Follows a task whose streams end as a test configures it; returns the times at which they were opened. */
async function follow(streams: (ear: TaskEar) => Promise<void>, time: number) {
  const clock = new ManualClock(0);
  const left = new AbortController();
  const opened: number[] = [];
  const surface = {
    follow: (_: unknown, ear: TaskEar) => {
      opened.push(clock.now());
      return streams(ear);
    },
  };
  const following = followTurn(aTurn(), deaf, { surface, clock, signal: left.signal });
  while (clock.now() < time) {
    clock.advance(100);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  }
  left.abort();
  await following;
  return { opened, timers: clock.pending };
}

describe('the follower of a task', () => {
  it('reopens its stream after pauses that grow to ten seconds, and stops on request', async () => {
    const broken = () => Promise.reject(new Error('no stream'));
    expect(await follow(broken, 33_000)).toEqual({
      opened: [200, 600, 1_400, 3_000, 6_200, 12_600, 22_600, 32_600],
      timers: 0,
    });
  });

  it('reopens its stream soon after it received an event', async () => {
    let streams = 0;
    const hearing = async (ear: TaskEar) => {
      streams += 1;
      if (streams === 3) ear.resumed();
    };
    const { opened } = await follow(hearing, 3_000);
    expect(opened).toEqual([200, 600, 1_400, 1_600, 2_000, 2_800]);
  });
});
