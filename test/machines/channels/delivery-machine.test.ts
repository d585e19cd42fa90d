import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ApprovalNotice, isComplete } from '../../../src/machines/channels/approval-notice.ts';
import {
  type DeliveryFailure,
  type DeliveryInput,
  longestUpdate,
  type NoticeVersion,
  pauseAfter,
} from '../../../src/machines/channels/delivery-machine.ts';
import { aNotice } from '../../helpers/approval-notices.ts';
import { runs } from '../../helpers/runs.ts';
import {
  approved,
  atTarget,
  forGood,
  later,
  posted,
  startDelivery,
  versions,
} from '../../helpers/started-delivery.ts';

describe('the delivery of a message about a held call', () => {
  it('posts, stores the place of the message and waits', async () => {
    const delivery = startDelivery();
    await delivery.answer('taken');
    expect([delivery.did(), delivery.kept, delivery.state(), delivery.clock.pending]).toEqual([
      ['post'],
      [[1, false, { ts: '1' }]],
      'posted',
      0,
    ]);
  });

  it('posts each update once, and closes at the end of the wait', async () => {
    const delivery = startDelivery();
    await delivery.answer('taken');
    for (const version of [versions.reminded, versions.counted, versions.ended]) {
      delivery.change(version);
      await delivery.answer('taken');
    }
    expect([delivery.did(), delivery.kept, delivery.state()]).toEqual([
      ['post', 'reminded 1', 'counted 1', 'ended 1'],
      [
        [1, false, { ts: '1' }],
        [2, false],
        [3, false],
        [4, true],
      ],
      'closed',
    ]);
  });

  it('continues with a message that was posted earlier', async () => {
    const resting = startDelivery({ ...posted, latest: { ...versions.asked, version: 7 } });
    expect([resting.did(), resting.kept, resting.state()]).toEqual([[], [[7, false]], 'posted']);
    const ended = startDelivery({ ...posted, latest: versions.ended });
    await ended.answer('taken');
    expect([ended.did(), ended.kept, ended.state()]).toEqual([['ended 1'], [[4, true]], 'closed']);
  });

  it('posts nothing about a wait that ended before the first post', () => {
    const delivery = startDelivery({ latest: versions.ended });
    expect([delivery.did(), delivery.kept, delivery.state()]).toEqual([[], [[4, true]], 'closed']);
  });

  it('sends changes that happened during the post as an update', async () => {
    const delivery = startDelivery();
    delivery.change(versions.reminded);
    delivery.change(versions.ended);
    expect(delivery.did()).toEqual(['post']);
    await delivery.answer('taken');
    await delivery.answer('taken');
    expect([delivery.did(), delivery.state()]).toEqual([['post', 'ended 1'], 'closed']);
  });

  it('posts the newest version after a pause', async () => {
    const delivery = startDelivery();
    await delivery.answer(later);
    delivery.change(versions.reminded);
    delivery.clock.advance(999);
    const during = [delivery.sent.length, delivery.state()];
    delivery.clock.advance(1);
    expect([during, delivery.sent.at(-1)?.notice]).toEqual([
      [1, 'posting:resting'],
      versions.reminded.notice,
    ]);
  });

  it.each([
    ['ends during the pause', true],
    ['ended during the post', false],
  ])('posts nothing more when the wait %s', async (_, isDuringPause) => {
    const delivery = startDelivery();
    if (!isDuringPause) delivery.change(versions.ended);
    await delivery.answer(later);
    if (isDuringPause) delivery.change(versions.ended);
    delivery.clock.advance(60_000);
    expect([delivery.did(), delivery.kept, delivery.state(), delivery.clock.pending]).toEqual([
      ['post'],
      [[4, true]],
      'closed',
      0,
    ]);
  });

  it('posts a deleted message again while the call waits, and not after the wait', async () => {
    const gone: DeliveryFailure = { ...forGood, fault: 'gone' };
    const waiting = startDelivery();
    await waiting.answer('taken');
    waiting.change(versions.reminded);
    await waiting.answer(gone);
    await waiting.answer('taken');
    waiting.change(versions.ended);
    await waiting.answer(gone);
    expect([waiting.did(), waiting.state()]).toEqual([
      ['post', 'reminded 1', 'post', 'ended 1'],
      'closed',
    ]);
  });

  it('closes when the message is refused permanently', async () => {
    const delivery = startDelivery();
    await delivery.answer(forGood);
    expect([delivery.kept, delivery.noted, delivery.state()]).toEqual([
      [[1, true]],
      ['message'],
      'closed',
    ]);
  });

  it('skips an update that is refused permanently, and sends the next one', async () => {
    const delivery = startDelivery({ ...posted, latest: versions.reminded });
    await delivery.answer(forGood);
    const between = delivery.state();
    delivery.change(versions.ended);
    await delivery.answer(forGood);
    expect([between, delivery.did(), delivery.kept, delivery.noted, delivery.state()]).toEqual([
      'posted',
      ['reminded 1', 'ended 1'],
      [
        [2, false],
        [4, true],
      ],
      ['message', 'message'],
      'closed',
    ]);
  });

  it('increases its pause after each failure, and to what the service requests', () => {
    const pauses = [1, 2, 3, 6, 7, 8, 1_000].map((failures) => pauseAfter(failures, later));
    expect(pauses).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
    expect([
      pauseAfter(1, atTarget),
      pauseAfter(9, { ...later, retryAfter: 3_000 }),
      pauseAfter(2, { ...later, retryAfter: 3_000 }),
      pauseAfter(1, { ...atTarget, retryAfter: 90_000 }),
      pauseAfter(1, { ...later, retryAfter: 0 }),
      pauseAfter(1, { ...later, retryAfter: 1e12 }),
    ]).toEqual([60_000, 60_000, 3_000, 90_000, 1_000, 600_000]);
  });

  it('keeps retrying a broken target for as long as the task waits', async () => {
    const delivery = startDelivery();
    for (let minute = 0; minute < 200; minute += 1) {
      await delivery.answer(atTarget);
      delivery.clock.advance(60_000);
    }
    await delivery.answer('taken');
    expect([delivery.sent.length, delivery.state()]).toEqual([201, 'posted']);
  });

  it('gives up an update after an hour, and closes if it was the last one', async () => {
    const delivery = startDelivery({ ...posted, latest: versions.ended });
    while (delivery.clock.now() < longestUpdate) {
      await delivery.answer(later);
      delivery.clock.advance(30_000);
    }
    expect([delivery.noted.at(-1), delivery.kept, delivery.state()]).toEqual([
      'given up',
      [[4, true]],
      'closed',
    ]);
  });

  it('gives an update that arrived during the hour a separate hour', async () => {
    const delivery = startDelivery({ ...posted, latest: versions.reminded });
    await delivery.answer(atTarget);
    delivery.change(versions.ended);
    const hours = [];
    for (let half = 1; half <= 4; half += 1) {
      delivery.clock.advance(longestUpdate / 2);
      await delivery.answer(atTarget);
      hours.push([delivery.state(), delivery.noted.includes('given up')]);
    }
    expect(hours).toEqual([
      ['updating:resting', false],
      ['updating:resting', false],
      ['updating:resting', false],
      ['closed', true],
    ]);
  });

  it('ends with the final state shown, posts one message, and sends nothing after the end', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('change' as const), end: fc.boolean() }),
      fc.record({
        do: fc.constant('answer' as const),
        with: fc.constantFrom('taken' as const, later, atTarget, { ...later, retryAfter: 5_000 }),
      }),
      fc.record({ do: fc.constant('wait' as const), for: fc.integer({ min: 1, max: 70_000 }) }),
      fc.record({ do: fc.constant('restart' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        let latest: NoticeVersion = versions.asked;
        let run = startDelivery();
        const told: ApprovalNotice[] = [];
        let row: Pick<DeliveryInput, 'ref' | 'told'> = { ref: null, told: null };
        let posts = 0;
        /** What was taken reaches the row at once, so a stop in between loses nothing but what was under way. */
        const answer = async (outcome: 'taken' | DeliveryFailure) => {
          const last = run.sent.at(-1);
          const isOpen = run.state().endsWith('sending');
          await run.answer(outcome);
          if (!isOpen || outcome !== 'taken' || last === undefined) return;
          if (last.did === 'post') posts += 1;
          told.push(last.notice);
          row = { ref: { ts: '1' }, told: last.notice };
        };
        for (const now of steps) {
          if (now.do === 'change' && !isComplete(latest.notice)) {
            const at = latest.version + 1;
            const { outcome } = latest.notice;
            const { outcome: _, ...undone } = approved;
            const next = outcome === null ? undone : approved;
            const notice = aNotice({ expiresAt: at }, now.end ? next : outcome);
            latest = { version: at, notice };
            run.change(latest);
          }
          if (now.do === 'answer') await answer(now.with);
          if (now.do === 'wait') run.clock.advance(now.for);
          if (now.do === 'restart' && run.state() !== 'closed') {
            run.stop();
            run = startDelivery({ ...row, latest });
          }
        }
        while (run.state().includes('ing:')) {
          run.clock.advance(600_000);
          await answer('taken');
        }
        const isSilent = latest.notice.outcome !== null && posts === 0;
        const ends = told.filter(isComplete);
        expect({ posts, last: told.at(-1), ends: ends.length }).toEqual({
          posts: isSilent ? 0 : 1,
          last: isSilent ? undefined : latest.notice,
          ends: isSilent || !isComplete(latest.notice) ? 0 : 1,
        });
      }),
      { numRuns: runs(300) },
    );
  });
});
