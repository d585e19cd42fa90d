import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerWindow,
  mostAsks,
  mostAttempts,
  mostTurns,
  restAfter,
} from '../../../src/machines/channels/conversation-limits.ts';
import { fullText, lateText } from '../../../src/machines/channels/conversation-words.ts';
import type { Asked, Refusal, Spoken, TurnEnd } from '../../../src/machines/channels/turn.ts';
import { aTurn } from '../../helpers/chat-thread.ts';
import { runs } from '../../helpers/runs.ts';
import {
  completed,
  delivered,
  refund,
  refused,
  settle,
  startThread,
} from '../../helpers/started-thread.ts';

describe('a conversation', () => {
  it('marks a message, answers it and ends', async () => {
    const thread = startThread();
    await settle();
    expect({ said: thread.said, isOver: thread.isOver() }).toEqual({
      said: ['m-1 [working]'],
      isOver: false,
    });
    await thread.answer(completed('Hi Ann'));
    const { said, closed, kept } = thread;
    expect({ said, closed, kept, isOver: thread.isOver(), timers: thread.clock.pending }).toEqual({
      said: ['m-1 [working]', 'm-1 Hi Ann', 'm-1 [done]'],
      closed: ['m-1'],
      kept: [],
      isOver: true,
      timers: 0,
    });
  });

  it('answers the messages of a thread one after the other, oldest first', async () => {
    const thread = startThread();
    await thread.receive('m-2', 'm-3');
    expect(thread.asked).toEqual(['m-1']);
    await thread.answer(completed('one'));
    expect(thread.asked).toEqual(['m-1', 'm-2']);
    await thread.answer(completed('two'));
    await thread.answer(completed('three'));
    expect({
      said: thread.said.filter((words) => !words.includes('[')),
      over: thread.isOver(),
    }).toEqual({
      said: ['m-1 one', 'm-2 two', 'm-3 three'],
      over: true,
    });
  });

  it('names the approvers once for each held call, and marks the message during the wait', async () => {
    const thread = startThread();
    await thread.hold(refund);
    await thread.resume();
    await thread.hold({ id: 'd-2', tool: 'pay', to: 'channel:console:*' });
    await thread.answer(completed('paid'));
    expect(thread.said).toEqual([
      'm-1 [working]',
      'm-1 [waiting]',
      'm-1 Waiting for a release of issue_refund by #refunds.',
      'm-1 [working]',
      'm-1 [waiting]',
      'm-1 Waiting for a release of pay by the console.',
      'm-1 paid',
      'm-1 [done]',
    ]);
    expect(thread.kept.map(({ heldId }) => heldId)).toEqual(['d-1', 'd-2']);
  });

  it('reports once that the task continues after the window, and posts the late answer', async () => {
    const thread = startThread();
    await thread.wait(answerWindow - 1);
    expect(thread.state()).toEqual({ current: 'asking' });
    await thread.wait(1);
    expect({ state: thread.state(), kept: thread.kept }).toEqual({
      state: { current: 'late' },
      kept: [{ ...aTurn(), isLate: true }],
    });
    await thread.wait(86_400_000);
    await thread.end({ kind: 'completed', text: 'at last' });
    expect({ said: thread.said, isFollowed: thread.isFollowed(), isOver: thread.isOver() }).toEqual(
      {
        said: ['m-1 [working]', `m-1 ${lateText}`, 'm-1 at last', 'm-1 [done]'],
        isFollowed: false,
        isOver: true,
      },
    );
  });

  it('does not repeat messages after a restart', async () => {
    const thread = startThread({ ...aTurn(), heldId: 'd-1', isLate: true });
    await thread.answer({ kind: 'running' });
    await thread.hold(refund);
    await thread.wait(answerWindow);
    expect({ state: thread.state(), said: thread.said }).toEqual({
      state: { current: 'late' },
      said: ['m-1 [working]', 'm-1 [waiting]'],
    });
  });

  it.each<[TurnEnd, string]>([
    [
      { kind: 'failed', text: 'defer: rejected by Bob: no' },
      'The task failed: defer: rejected by Bob: no',
    ],
    [
      { kind: 'failed', text: 'defer: abandoned by service restart' },
      'The task failed: defer: abandoned by service restart. Say it again to start anew.',
    ],
    [{ kind: 'canceled', text: 'canceled: timeout' }, 'The task was canceled: timeout.'],
    [{ kind: 'gone' }, 'The outcome of this message is no longer available. Send it again.'],
  ])('reports the final state %j', async (end, words) => {
    const thread = startThread();
    await thread.end(end);
    expect(thread.said).toEqual(['m-1 [working]', `m-1 ${words}`, 'm-1 [failed]']);
  });

  it('reports an empty answer as done', async () => {
    const thread = startThread();
    await thread.answer(completed(' \n'));
    expect(thread.said[1]).toBe('m-1 Done.');
  });
});

describe('an agent that does not accept a message', () => {
  it.each<[Refusal, string]>([
    ['unauthorized', 'I could not start: the agent rejected my sign-in. Contact its operator.'],
    [
      'assurance',
      'This needs a stronger sign-in than a chat can provide, so it was not done. Use another client.',
    ],
    ['admission', 'The agent accepts no new work at the moment. Try again later.'],
    ['tooLong', 'That message is too long. Shorten it.'],
    ['refused', 'The agent rejected this message. Contact its operator.'],
  ])('is asked once when it responds %s', async (refusal, words) => {
    const thread = startThread();
    await thread.answer(refused(refusal));
    expect({ asked: thread.asked, said: thread.said, isOver: thread.isOver() }).toEqual({
      asked: ['m-1'],
      said: ['m-1 [working]', `m-1 ${words}`, 'm-1 [failed]'],
      isOver: true,
    });
  });

  it.each<[Asked | Error, string]>([
    [refused('running'), 'The task of this thread is still busy. Send it again in a moment.'],
    [
      refused('limited', 500),
      'The agent receives too many requests at the moment. Send it again in a minute.',
    ],
    [
      refused('unavailable'),
      'The agent cannot be reached at the moment. Send it again in a few minutes.',
    ],
    [
      new Error('socket'),
      'The agent cannot be reached at the moment. Send it again in a few minutes.',
    ],
  ])('is asked again after increasing pauses when it responds %j', async (answer, words) => {
    const thread = startThread();
    for (let ask = 1; ask < mostAsks; ask += 1) {
      await thread.answer(answer);
      expect(thread.state()).toEqual({ current: 'pausing' });
      await thread.wait(restAfter(ask, null));
    }
    await thread.answer(answer);
    expect({ asked: thread.asked.length, last: thread.said.slice(-2) }).toEqual({
      asked: mostAsks,
      last: [`m-1 ${words}`, 'm-1 [failed]'],
    });
  });

  it('is not asked again when it requests a long pause', async () => {
    const thread = startThread();
    await thread.answer(refused('limited', 60_001));
    expect({ asked: thread.asked.length, isOver: thread.isOver() }).toEqual({
      asked: 1,
      isOver: true,
    });
  });

  it('is not asked before the pause that it requests has passed', async () => {
    const thread = startThread();
    await thread.answer(refused('limited', 30_000));
    await thread.wait(29_999);
    expect(thread.asked).toHaveLength(1);
    await thread.wait(1);
    expect(thread.asked).toHaveLength(2);
  });
});

describe('a chat that does not accept a post', () => {
  const later: Spoken = { kind: 'failed', isPassing: true, retryAfter: null, error: 'down' };
  const never: Spoken = {
    kind: 'failed',
    isPassing: false,
    retryAfter: null,
    error: 'no such room',
  };

  it('is retried with increasing pauses while the task continues', async () => {
    let isDown = true;
    const thread = startThread(aTurn(), () => (isDown ? later : delivered));
    await settle();
    await thread.answer(completed('hi'));
    await thread.wait(1_000);
    isDown = false;
    await thread.wait(2_000);
    expect({ said: thread.said, isOver: thread.isOver() }).toEqual({
      said: ['m-1 [working]', 'm-1 hi', 'm-1 [done]'],
      isOver: true,
    });
  });

  it('is given up after the last retry, and the message is closed', async () => {
    const thread = startThread(aTurn(), (words) => (words.includes('[') ? delivered : later));
    await thread.answer(completed('hi'));
    for (let attempt = 1; attempt < mostAttempts; attempt += 1) {
      await thread.wait(restAfter(attempt, null));
    }
    const { unsaid, closed } = thread;
    expect({
      unsaid,
      closed,
      minutes: Math.round(thread.clock.now() / 60_000),
      isOver: thread.isOver(),
    }).toEqual({
      unsaid: [['m-1 hi', 'down']],
      closed: ['m-1'],
      minutes: 39,
      isOver: true,
    });
  });

  it('is not retried when a retry cannot succeed', async () => {
    const thread = startThread(aTurn(), () => never);
    await thread.answer(completed('hi'));
    expect({ unsaid: thread.unsaid.map(([words]: any) => words), isOver: thread.isOver() }).toEqual(
      {
        unsaid: ['m-1 [working]', 'm-1 hi', 'm-1 [done]'],
        isOver: true,
      },
    );
  });
});

describe('a thread with too many messages', () => {
  it('accepts a limited number, reports some of the refused ones and drops the rest', async () => {
    const hung: Spoken = { kind: 'failed', isPassing: true, retryAfter: 300_000, error: 'slow' };
    let isHung = true;
    const thread = startThread(aTurn(), () => (isHung ? hung : delivered));
    const more = Array.from({ length: 99 }, (_, index) => `x-${index}`);
    await thread.receive(...more);
    isHung = false;
    await thread.wait(300_000);
    for (let turn = 0; turn < mostTurns; turn += 1) await thread.answer(completed('ok'));
    const told = thread.said.filter((words) => words.endsWith(fullText)).length;
    const answered = thread.said.filter((words) => words.endsWith(' ok')).length;
    expect({
      answered,
      told,
      closed: new Set(thread.closed).size,
      isOver: thread.isOver(),
    }).toEqual({ answered: mostTurns, told: 20, closed: 100, isOver: true });
  });
});

describe('after any events', () => {
  const step = fc.oneof(
    fc.constant({ kind: 'receive' as const }),
    fc.constant({ kind: 'hold' as const }),
    fc.constant({ kind: 'resume' as const }),
    fc.record({ kind: fc.constant('wait' as const), time: fc.integer({ min: 1, max: 400_000 }) }),
    fc
      .constantFrom<Asked | Error>(
        completed('a'),
        refused('limited'),
        refused('admission'),
        { kind: 'running' },
        new Error('x'),
      )
      .map((answer) => ({ kind: 'answer' as const, answer })),
    fc.constant({ kind: 'end' as const }),
  );

  it('each message has exactly one final post, in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.array(fc.boolean()),
        async (steps, chat) => {
          let calls = 0;
          const thread = startThread(aTurn({ id: '0' }), () => {
            const isUp = chat[calls++ % (chat.length + 1)] ?? true;
            return isUp
              ? delivered
              : { kind: 'failed', isPassing: true, retryAfter: null, error: 1 };
          });
          let received = 1;
          for (const [index, one] of steps.entries()) {
            if (thread.isOver()) break;
            if (one.kind === 'receive' && received < mostTurns)
              await thread.receive(`${received++}`);
            else if (one.kind === 'hold') await thread.hold({ ...refund, id: `d-${index}` });
            else if (one.kind === 'resume') await thread.resume();
            else if (one.kind === 'wait') await thread.wait(one.time);
            else if (one.kind === 'answer') await thread.answer(one.answer);
            else await thread.end({ kind: 'completed', text: 'e' });
          }
          for (let turn = 0; !thread.isOver() && turn < 200; turn += 1) {
            await thread.end({ kind: 'completed', text: 'e' });
            await thread.wait(300_000);
          }
          const expected = Array.from({ length: received }, (_, index) => `${index}`);
          expect({ closed: thread.closed, isOver: thread.isOver() }).toEqual({
            closed: expected,
            isOver: true,
          });
        },
      ),
      { numRuns: runs(60) },
    );
  });
});
