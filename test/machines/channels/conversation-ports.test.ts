import { describe, expect, it } from 'vitest';
import { createActor } from 'xstate';
import {
  answerWindow,
  mostAsks,
  restAfter,
} from '../../../src/machines/channels/conversation-limits.ts';
import { conversationMachine } from '../../../src/machines/channels/conversation-machine.ts';
import { currentOf, firstOf } from '../../../src/machines/channels/conversation-setup.ts';
import { fullText } from '../../../src/machines/channels/conversation-words.ts';
import type { Spoken } from '../../../src/machines/channels/turn.ts';
import { aTurn } from '../../helpers/chat-thread.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import {
  completed,
  delivered,
  refused,
  settle,
  shown,
  startThread,
} from '../../helpers/started-thread.ts';

const unsaid = (retryAfter: number | null): Spoken => ({
  kind: 'failed',
  isPassing: true,
  retryAfter,
  error: 'busy',
});

describe('a chat port', () => {
  it('waits as long as the chat requests, and no longer the next time', async () => {
    const answers = [unsaid(30_000), unsaid(null), delivered];
    let tries = 0;
    const thread = startThread(aTurn(), () => answers[tries++] ?? delivered);
    await settle();
    const counts = [];
    for (const wait of [29_999, 1, 1_999, 1]) {
      await thread.wait(wait);
      counts.push(tries);
    }
    expect([counts, thread.said]).toEqual([[1, 2, 2, 3], ['m-1 [working]']]);
  });

  it('tries a mark three times, then drops it', async () => {
    let tries = 0;
    const thread = startThread(aTurn(), (words) => {
      if (!words.includes('[')) return delivered;
      tries += 1;
      return unsaid(null);
    });
    await settle();
    const lost = [];
    for (const wait of [1_000, 2_000]) {
      lost.push([tries, [...thread.unsaid]]);
      await thread.wait(wait);
    }
    expect([lost, tries, thread.unsaid, thread.closed]).toEqual([
      [
        [1, []],
        [2, []],
      ],
      3,
      [['m-1 [working]', 'busy']],
      [],
    ]);
  });

  it('tries a post sixteen times', async () => {
    let tries = 0;
    const thread = startThread(aTurn(), (words) => {
      if (words.includes('[')) return delivered;
      tries += 1;
      return unsaid(null);
    });
    await thread.answer(completed('hi'));
    for (let attempt = 1; attempt < 15; attempt += 1) await thread.wait(restAfter(attempt, null));
    const early = [tries, thread.closed.length];
    await thread.wait(restAfter(15, null));
    expect([early, tries, thread.closed]).toEqual([[15, 0], 16, ['m-1']]);
  });

  it('that throws is not retried, and the message is closed', async () => {
    const broken = new Error('a defect');
    const thread = startThread(aTurn(), () => {
      throw broken;
    });
    await settle();
    await thread.answer(completed('hi'));
    const { said, closed } = thread;
    expect([thread.unsaid, said, closed, thread.isOver(), thread.clock.pending]).toEqual([
      [
        ['m-1 [working]', broken],
        ['m-1 hi', broken],
        ['m-1 [done]', broken],
      ],
      [],
      ['m-1'],
      true,
      0,
    ]);
  });

  it('posts the answer to a message before the agent receives the next one', async () => {
    let isUp = true;
    const thread = startThread(aTurn(), () => (isUp ? delivered : unsaid(null)));
    await thread.receive('m-2');
    isUp = false;
    await thread.answer(completed('one'));
    const early = [thread.asked.slice(), thread.state()];
    isUp = true;
    await thread.wait(1_000);
    expect([early, thread.asked, thread.closed]).toEqual([
      [['m-1'], 'answering'],
      ['m-1', 'm-2'],
      ['m-1'],
    ]);
  });

  it('marks each message over the limit', async () => {
    const thread = startThread();
    const ids = Array.from({ length: 19 }, (_one, index) => `m-${index + 2}`);
    await thread.receive(...ids, 'one too many');
    expect([thread.said, thread.closed]).toEqual([
      ['m-1 [working]', `one too many ${fullText}`, 'one too many [failed]'],
      ['one too many'],
    ]);
  });

  it('that is slow marks no message while forty posts and marks wait', async () => {
    const thread = startThread(aTurn(), () => unsaid(300_000));
    await thread.wait(answerWindow);
    await thread.receive(...Array.from({ length: 19 }, (_one, index) => `m-${index + 2}`));
    await thread.receive(...Array.from({ length: 19 }, (_one, index) => `too many ${index}`));
    const early = [...thread.closed];
    await thread.receive('one more');
    expect([early, thread.closed]).toEqual([[], ['one more']]);
  });
});

describe('an agent port', () => {
  it('asks again after a minute when the agent requests a longer pause', async () => {
    const thread = startThread();
    await thread.answer(refused('limited', 60_000));
    await thread.wait(59_999);
    const early = thread.asked.length;
    await thread.wait(1);
    expect([early, thread.asked.length]).toEqual([1, 2]);
  });

  it('follows the task of each message', async () => {
    const thread = startThread({ ...aTurn(), heldId: 'd-1' });
    await thread.receive('m-2');
    await thread.answer(completed('one'));
    expect(thread.followed).toEqual([{ ...aTurn(), heldId: 'd-1' }, aTurn({ id: 'm-2' })]);
  });

  it('that throws at each request does not block the thread', async () => {
    const thread = startThread();
    await thread.receive('m-2');
    for (let ask = 1; ask <= mostAsks; ask += 1) {
      await thread.answer(new Error('socket'));
      await thread.wait(restAfter(ask, null));
    }
    await thread.answer(completed('two'));
    expect([thread.asked, thread.closed, thread.isOver()]).toEqual([
      [...Array(mostAsks).fill('m-1'), 'm-2'],
      ['m-1', 'm-2'],
      true,
    ]);
  });
});

describe('a conversation whose ports are not connected', () => {
  it('records what it could not post, and asks again after a pause', async () => {
    const lost: unknown[] = [];
    const machine = conversationMachine.provide({
      actions: {
        noteUnsaid: (_, { utterance, error }) => void lost.push([shown(utterance), error]),
      },
    });
    const clock = new ManualClock(0);
    const actor = createActor(machine, { clock, input: { turn: aTurn() } }).start();
    await settle();
    const { status, value } = actor.getSnapshot();
    actor.stop();
    expect([status, value, lost]).toEqual([
      'active',
      { turn: { current: 'pausing' }, voice: 'silent' },
      [['m-1 [working]', new Error('the port is not filled')]],
    ]);
  });

  it('has no message and no post without an event', () => {
    const none = { asks: 0, attempts: 0, askAfter: null, speakAfter: null };
    expect(() => currentOf({ ...none, turns: [], outbox: [] })).toThrow(
      new Error('no message waits for an answer'),
    );
    expect(() => firstOf({ ...none, turns: [], outbox: [] })).toThrow(
      new Error('nothing is left to say'),
    );
  });
});
