import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/machines/domain/task.ts';
import {
  followUpBound,
  followUpOf,
  isFull,
  saidBy,
  speakersIn,
} from '../../../src/machines/task/follow-up.ts';
import {
  aCall,
  aCaller,
  aFollowUp,
  aTaskContext,
  aTaskInput,
} from '../../helpers/task-fixtures.ts';

const { message } = aFollowUp('any news?');
const ann = { provider: 'ops', userId: 'ann', email: 'ann@example.com' };
const bob = { provider: 'ops', userId: 'bob' };
const by = { provider: 'scripted', model: 'demo' };
const exchanges = [{ call: aCall({ id: 'call-0' }), result: 'found' }];

describe('a message that is stored while a call waits', () => {
  it.each([
    ['nobody', null, message],
    ['somebody', bob, { ...message, sender: bob }],
    ['an author with an email', ann, { ...message, sender: ann }],
  ])('comes after all calls of the turn, and names its author: %s', (_, sender, kept) => {
    const context = aTaskContext({ exchanges, pending: [aCall(), aCall({ id: 'call-2' })] });
    expect(followUpOf(context, message, sender)).toStrictEqual({ message: kept, sender, after: 3 });
  });
});

describe('the author of a message', () => {
  it.each([
    ['an anonymous caller adds none', null, undefined],
    ['a caller without an email adds none', bob, bob],
    ['a caller with an email adds it', ann, ann],
    ['no other property of a caller is added', aCaller({ orgId: 'acme', acr: 'gold' }), aCaller()],
  ])('%s', (_, caller, sender) => {
    expect(saidBy(message, caller)).toStrictEqual(
      sender === undefined ? message : { ...message, sender },
    );
  });
});

describe('the queue of messages to the model', () => {
  const sized = (bytes: number): Message => {
    const frame = Buffer.byteLength(JSON.stringify(aFollowUp('').message));
    return {
      ...message,
      parts: [{ kind: 'text', text: 'x'.repeat(bytes - frame) }],
      messageId: '',
    };
  };
  const waiting = (count: number, more = {}) =>
    aTaskContext({
      followUps: Array.from({ length: count }, () => aFollowUp('', { after: 2 })),
      ...more,
    });
  const { bytes, messages } = followUpBound;

  it.each([
    ['the last allowed message', waiting(messages - 1), message, false],
    ['one more', waiting(messages), message, true],
    [
      'one more, after the model has read them',
      waiting(messages, { said: [{ after: 2, by, parts: [] }] }),
      message,
      false,
    ],
    [
      'no further one, before the model has read them',
      waiting(messages, { said: [{ after: 1, by, parts: [] }] }),
      message,
      true,
    ],
    ['the last byte', waiting(0), sized(bytes), false],
    ['one byte more', waiting(0), sized(bytes + 1), true],
  ])('has room for %s', (_, context, further, full) => {
    expect(isFull(context, further)).toBe(full);
  });

  it('is shared by all waiting messages, without those that the model has read', () => {
    const half = sized(bytes / 2);
    const followUps = [aFollowUp('', { message: half, after: 2 })];
    const heard = [{ after: 2, by, parts: [] }];
    const full = (said: typeof heard, further: Message) =>
      isFull(aTaskContext({ followUps, said }), further);
    expect([
      full([], half),
      full([], sized(bytes / 2 + 1)),
      full(heard, sized(bytes / 2 + 1)),
    ]).toEqual([false, true, false]);
  });
});

describe('the speakers of a task', () => {
  it('are the authors in earlier tasks and runs, and in this run before the current calls', () => {
    const { request } = aTaskInput();
    const { run } = aTaskContext();
    const context = aTaskContext({
      run: {
        ...run,
        session: [{ ...request, sender: ann }],
        history: [{ ...request, sender: bob }, request],
      },
      followUps: [
        aFollowUp('one', { after: 1, sender: ann }),
        aFollowUp('two', { after: 1, sender: null }),
        aFollowUp('three', { after: 2, sender: bob }),
      ],
      said: [
        { after: 0, by, parts: [] },
        { after: 1, by, parts: [] },
      ],
    });
    expect(speakersIn(context)).toStrictEqual([ann, bob, null, ann, null]);
    expect(speakersIn(aTaskContext())).toStrictEqual([]);
  });
});
