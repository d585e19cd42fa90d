import { describe, expect, it } from 'vitest';
import {
  fullText,
  heldText,
  hintText,
  lateText,
  wordsOf,
} from '../../../src/machines/channels/conversation-words.ts';

describe('the text of a post', () => {
  it('is the same for everyone when the task waits, the thread is full or the message is empty', () => {
    expect([lateText, fullText, hintText]).toEqual([
      'This takes longer than 6 minutes. The task continues, and the answer will appear here.',
      'Too many messages are waiting in this thread; send it again once they are answered.',
      'Say what you need in the same message, and I will work on it.',
    ]);
  });

  it.each([
    ['channel:console:*', 'the console'],
    ['channel:telegram', 'the telegram'],
    ['ann', 'an approver'],
    ['channel::*', 'an approver'],
    ['channel:telegram:ops', 'ops (telegram)'],
    ['channel:slack:refunds', '#refunds'],
    ['channel:slack:#refunds', '#refunds'],
    ['channel:slack:re#funds', '#re#funds'],
    ['channel:slack:C0123ABCD', 'channel C0123ABCD'],
    ['channel:slack:G0123ABCDE', 'channel G0123ABCDE'],
    ['channel:slack:D0123ABCD', 'channel D0123ABCD'],
    ['channel:slack:C0123ABC', '#C0123ABC'],
    ['channel:slack:U0123ABCD', '#U0123ABCD'],
    ['channel:slack:XC0123ABCD', '#XC0123ABCD'],
    ['channel:slack:C0123ABCD-', '#C0123ABCD-'],
    ['channel:slack:Customers', '#Customers'],
  ])('about an approval by %s names %s', (to, whom) => {
    expect(heldText({ tool: 'pay', to })).toBe(`Waiting for a release of pay by ${whom}.`);
  });

  it('about a task without further updates states that the message was not accepted', () => {
    expect(wordsOf({ kind: 'running' })).toEqual({
      markdown: 'The agent rejected this message. Contact its operator.',
      mark: 'failed',
    });
  });
});
