import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import { deliveryMachine, longestUpdate } from '../../../src/machines/channels/delivery-machine.ts';
import { aNotice } from '../../helpers/approval-notices.ts';
import {
  atTarget,
  forGood,
  later,
  posted,
  startDelivery,
  versions,
} from '../../helpers/started-delivery.ts';

const moved = { ref: { ts: '1' }, told: null };

describe('the retries of a delivery', () => {
  it.each([
    ['is changed', versions.asked, 'changed 1', [1, false], 'posted'],
    ['has ended', versions.ended, 'ended 1', [4, true], 'closed'],
  ] as const)(
    'of which only the place was stored report that it %s',
    async (_name, latest, did, kept, state) => {
      const delivery = startDelivery({ ...moved, latest });
      await delivery.answer('taken');
      expect([delivery.did(), delivery.kept, delivery.state()]).toEqual([[did], [kept], state]);
    },
  );

  it('accept no version twice, and none older than the last one', async () => {
    const delivery = startDelivery({ ...posted, latest: { ...versions.asked, version: 3 } });
    delivery.change({ version: 3, notice: versions.reminded.notice });
    delivery.change(versions.reminded);
    expect([delivery.did(), delivery.state()]).toEqual([[], 'posted']);
    delivery.change({ ...versions.reminded, version: 4 });
    await delivery.answer('taken');
    expect([delivery.did(), delivery.kept.at(-1)]).toEqual([['reminded 1'], [4, false]]);
  });

  it('keep a version that contains no news as delivered', () => {
    const delivery = startDelivery({ ...posted, latest: versions.asked });
    delivery.change({ version: 2, notice: versions.asked.notice });
    expect([delivery.did(), delivery.kept]).toEqual([
      [],
      [
        [1, false],
        [2, false],
      ],
    ]);
  });

  it('wait longer after each failure, until a post is accepted', async () => {
    const delivery = startDelivery();
    const rests = [];
    for (const most of [1_000, 2_000, 4_000]) {
      await delivery.answer(later);
      delivery.clock.advance(most - 1);
      rests.push([delivery.state(), delivery.sent.length]);
      delivery.clock.advance(1);
    }
    await delivery.answer('taken');
    delivery.change(versions.reminded);
    await delivery.answer(later);
    delivery.clock.advance(1_000);
    expect([rests, delivery.did()]).toEqual([
      [
        ['posting:resting', 1],
        ['posting:resting', 2],
        ['posting:resting', 3],
      ],
      ['post', 'post', 'post', 'post', 'reminded 1', 'reminded 1'],
    ]);
  });

  it.each([
    ['its post', {}],
    ['an update', { ...posted, latest: versions.reminded }],
  ])('report whether %s is in progress or waits', async (_name, input) => {
    const delivery = startDelivery(input);
    const sending = delivery.tags();
    await delivery.answer(later);
    const resting = delivery.tags();
    delivery.clock.advance(1_000);
    const again = delivery.tags();
    await delivery.answer('taken');
    expect([sending, resting, again, delivery.tags(), delivery.isOver()]).toEqual([
      ['sending'],
      ['resting'],
      ['sending'],
      [],
      false,
    ]);
  });

  it.each([
    ['the target shows how the wait ended', { ...posted, latest: versions.ended }, 'taken'],
    ['the message is refused permanently', {}, forGood],
  ] as const)('are over once %s', async (_name, input, answer) => {
    const delivery = startDelivery(input);
    expect(delivery.isOver()).toBe(false);
    await delivery.answer(answer);
    expect(delivery.isOver()).toBe(true);
  });

  it('report what a given-up update should have shown', async () => {
    const delivery = startDelivery({ ...posted, latest: versions.reminded });
    await delivery.answer(atTarget);
    delivery.clock.advance(longestUpdate - 1);
    await delivery.answer(atTarget);
    const early = [...delivery.givenUp];
    delivery.clock.advance(1);
    expect([early, delivery.givenUp, delivery.kept, delivery.state()]).toEqual([
      [],
      [versions.reminded.notice],
      [[2, false]],
      'posted',
    ]);
  });
});

it.each([
  ['posts', { ref: null, told: null }],
  ['updates', moved],
])('a delivery whose %s port is not connected fails with a report', async (_name, kept) => {
  const latest = { version: 1, notice: aNotice() };
  const actor = createActor(deliveryMachine, { input: { ...kept, latest } });
  const failed = new Promise((resolve) => actor.subscribe({ error: resolve }));
  actor.start();
  expect(await failed).toEqual(new Error('the port is not filled'));
});
