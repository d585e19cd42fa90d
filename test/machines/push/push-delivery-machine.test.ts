import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import type { Task, TaskState } from '../../../src/machines/domain/task.ts';
import {
  mostAttempts,
  mostWaiting,
  pauseAfter,
  pushDeliveryMachine,
} from '../../../src/machines/push/push-delivery-machine.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { aTask } from '../../helpers/stored-tasks.ts';

/** A receiver that answers when and how a test says. */
function startDelivery({ told: known = 0 } = {}) {
  const clock = new ManualClock(0);
  const posts: { task: Task; end: PromiseWithResolvers<void> }[] = [];
  const told: number[] = [];
  const givenUp: unknown[] = [];
  const actor = createActor(
    pushDeliveryMachine.provide({
      actors: {
        post: fromPromise<void, { task: Task }>(({ input: { task } }) => {
          const end = Promise.withResolvers<void>();
          posts.push({ task, end });
          return end.promise;
        }),
      },
      actions: {
        keepTold: (_, { revision }) => void told.push(revision),
        noteGivenUp: (_, { task, error }) => void givenUp.push([task.revision, error]),
      },
    }),
    { clock, input: { told: known } },
  ).start();
  return {
    clock,
    posts,
    told,
    givenUp,
    state: () => actor.getSnapshot().value,
    isOver: () => actor.getSnapshot().status === 'done',
    change: (state: TaskState, revision: number, text: string | null = null) =>
      actor.send({ type: 'task.changed', task: aTask({ state, revision, text }) }),
    async answer(outcome: 'taken' | Error) {
      const end = posts.at(-1)?.end;
      if (outcome === 'taken') end?.resolve();
      else end?.reject(outcome);
      for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    },
  };
}

const revisions = (posts: { task: Task }[]) => posts.map(({ task }) => task.revision);
const refused = new Error('the receiver answered 500');

describe('the delivery of push notifications', () => {
  it('posts nothing before the first change', () => {
    const { state, posts, clock } = startDelivery();
    expect({ state: state(), posts, timers: clock.pending }).toEqual({
      state: 'idle',
      posts: [],
      timers: 0,
    });
  });

  it('posts no change that the receiver has, and none older than the last accepted one', () => {
    const delivery = startDelivery({ told: 2 });
    delivery.change('working', 1);
    delivery.change('deferred', 2);
    delivery.change('working', 4);
    delivery.change('deferred', 3);
    delivery.change('completed', 4);
    expect(revisions(delivery.posts)).toEqual([4]);
  });

  it('posts one change after the other, and finishes with the end of the task', async () => {
    const delivery = startDelivery();
    delivery.change('working', 1);
    delivery.change('deferred', 2);
    delivery.change('completed', 3);
    expect(revisions(delivery.posts)).toEqual([1]);
    await delivery.answer('taken');
    await delivery.answer('taken');
    expect(delivery.state()).toBe('posting');
    await delivery.answer('taken');
    expect({
      posted: revisions(delivery.posts),
      told: delivery.told,
      state: delivery.state(),
      isOver: delivery.isOver(),
    }).toEqual({ posted: [1, 2, 3], told: [1, 2, 3], state: 'closed', isOver: true });
  });

  it('skips a change with the same state and text', async () => {
    const delivery = startDelivery();
    delivery.change('working', 1);
    delivery.change('working', 2);
    await delivery.answer('taken');
    delivery.change('working', 3);
    expect({ posted: revisions(delivery.posts), state: delivery.state() }).toEqual({
      posted: [1],
      state: 'idle',
    });
  });

  it('posts the same change again after a pause that doubles', async () => {
    const delivery = startDelivery();
    delivery.change('working', 1);
    await delivery.answer(refused);
    delivery.clock.advance(999);
    expect({ posts: delivery.posts.length, state: delivery.state() }).toEqual({
      posts: 1,
      state: 'pausing',
    });
    delivery.clock.advance(1);
    await delivery.answer(refused);
    delivery.clock.advance(1_999);
    expect(delivery.posts).toHaveLength(2);
    delivery.clock.advance(1);
    await delivery.answer('taken');
    expect({
      posted: revisions(delivery.posts),
      told: delivery.told,
      state: delivery.state(),
    }).toEqual({ posted: [1, 1, 1], told: [1], state: 'idle' });
  });

  it('waits when its port is not connected', async () => {
    const actor = createActor(pushDeliveryMachine, { input: { told: 0 } }).start();
    actor.send({ type: 'task.changed', task: aTask({ state: 'working', revision: 1 }) });
    for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
    expect(actor.getSnapshot()).toMatchObject({ value: 'pausing', context: { attempts: 1 } });
    actor.stop();
  });

  it('gives up a change after about an hour, and continues with the next one', async () => {
    const delivery = startDelivery();
    delivery.change('working', 1);
    delivery.change('completed', 2);
    for (let attempt = 1; attempt < mostAttempts; attempt += 1) {
      await delivery.answer(refused);
      delivery.clock.advance(pauseAfter(attempt));
    }
    const passed = delivery.clock.now();
    await delivery.answer(refused);
    expect({
      posted: revisions(delivery.posts),
      givenUp: delivery.givenUp,
      told: delivery.told,
      state: delivery.state(),
      isAboutAnHour: passed > 3_000_000 && passed < 3_900_000,
    }).toEqual({
      posted: [...Array<number>(mostAttempts).fill(1), 2],
      givenUp: [[1, refused]],
      told: [1],
      state: 'posting',
      isAboutAnHour: true,
    });
  });

  it('posts every change once and in order, with any answers of the receiver', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
        async (outcomes) => {
          const delivery = startDelivery();
          const changes = Array.from({ length: 6 }, (_, index) => index + 1);
          for (const revision of changes) delivery.change('working', revision, `step ${revision}`);
          for (const isTaken of outcomes) {
            await delivery.answer(isTaken ? 'taken' : refused);
            delivery.clock.advance(300_000);
          }
          const taken = Math.min(changes.length, outcomes.filter(Boolean).length);
          expect(delivery.told).toEqual(changes.slice(0, taken));
        },
      ),
      { numRuns: 50 },
    );
  });

  it('keeps at most the allowed number of waiting changes, and the latest among them', async () => {
    const delivery = startDelivery();
    for (let revision = 1; revision <= mostWaiting + 10; revision += 1) {
      delivery.change('working', revision, `step ${revision}`);
    }
    for (let turn = 0; turn < mostWaiting; turn += 1) await delivery.answer('taken');
    const kept = Array.from({ length: mostWaiting - 1 }, (_, index) => index + 12);
    expect({ posted: revisions(delivery.posts), told: delivery.told }).toEqual({
      posted: [1, ...kept],
      told: [1, ...kept],
    });
  });
});
