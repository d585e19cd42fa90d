import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise, SimulatedClock } from 'xstate';
import {
  type DevicePushOutcome,
  devicePushMachine,
} from '../../../src/machines/push/device-push-machine.ts';
import { prompt } from '../../helpers/patient.ts';

const waits = { type: 'call.waits' } as const;

function push(...outcomes: (DevicePushOutcome | Error)[]) {
  const clock = new SimulatedClock();
  const givenUp: unknown[] = [];
  let posts = 0;
  const post = fromPromise<DevicePushOutcome>(() => {
    posts += 1;
    const outcome = outcomes.shift() ?? 'sent';
    return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
  });
  const noteGivenUp = (_: unknown, { error }: { error: unknown }) => givenUp.push(error);
  const actor = createActor(
    devicePushMachine.provide({ actors: { post }, actions: { noteGivenUp } }),
    { clock },
  ).start();
  const settled = (state: string) =>
    vi.waitUntil(() => actor.getSnapshot().value === state, prompt);
  return { actor, clock, givenUp, posts: () => posts, settled };
}

describe('the pushes to a device', () => {
  it('are one for calls that begin together, and end when every call was reported', async () => {
    const { actor, clock, posts, settled } = push();
    actor.send(waits);
    clock.increment(499);
    expect(posts()).toBe(0);
    clock.increment(1);
    await settled('resting');
    clock.increment(20_000);
    expect([actor.getSnapshot().value, posts()]).toEqual(['ended', 1]);
  });

  it('are one in 20 seconds for calls that begin during that time', async () => {
    const { actor, clock, posts, settled } = push();
    clock.increment(500);
    await settled('resting');
    for (let count = 0; count < 100; count += 1) actor.send(waits);
    clock.increment(19_999);
    expect(posts()).toBe(1);
    clock.increment(1);
    await settled('resting');
    expect(posts()).toBe(2);
  });

  it('are retried with pauses, and given up after six attempts', async () => {
    const failure = new Error('503');
    const { clock, givenUp, posts, settled } = push(...Array<Error>(6).fill(failure));
    clock.increment(500);
    for (const pause of [1_000, 2_000, 4_000, 8_000, 16_000]) {
      await settled('pausing');
      clock.increment(pause);
    }
    await settled('resting');
    expect([posts(), givenUp]).toEqual([6, [failure]]);
  });

  it('end for a removed device', async () => {
    const { clock, posts, settled } = push('gone');
    clock.increment(500);
    await settled('ended');
    expect(posts()).toBe(1);
  });
});
