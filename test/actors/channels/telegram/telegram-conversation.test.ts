import { beforeEach, describe, expect, it } from 'vitest';
import { DeliveryError } from '../../../../src/actors/channels/channel-adapter.ts';
import { TelegramClient } from '../../../../src/actors/channels/telegram/telegram-client.ts';
import { TelegramConversation } from '../../../../src/actors/channels/telegram/telegram-conversation.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { failureOf } from '../../outbound/egress/an-egress.ts';

let fake: FakeTelegram;
let conversation: TelegramConversation;
let logged: [fields: object, message: string][];

beforeEach(async () => {
  fake = await FakeTelegram.start();
  logged = [];
  const note = (fields: object, message: string) => void logged.push([fields, message]);
  const client = new TelegramClient({
    settings: { token: fake.token, apiUrl: fake.apiUrl },
    outbound: { fetch: globalThis.fetch },
    clock: new ManualClock(0),
  });
  conversation = new TelegramConversation({ client, log: { info: note, warn: note, error: note } });
});

const { signal } = new AbortController();
const ref = { chat: 7, message: 3, thread: null };
const reply = { message_id: 3, allow_sending_without_reply: true };

/** Lines that are each a hundred characters, in all so many. */
const lines = (count: number) =>
  Array.from({ length: count }, (_, index) => String(index).padEnd(99, '.')).join('\n');

const texts = () => fake.called('sendMessage').map(({ text }) => text);

describe('TelegramConversation.say', () => {
  it('answers a message in plain text without a preview', async () => {
    await conversation.say(ref, '**Done**: <b>7</b> [x](https://a.test)', signal);
    expect(fake.calls).toEqual([
      {
        method: 'sendMessage',
        args: {
          chat_id: 7,
          text: '**Done**: <b>7</b> [x](https://a.test)',
          reply_parameters: reply,
          link_preview_options: { is_disabled: true },
        },
      },
    ]);
  });

  it('answers in the topic of a group', async () => {
    await conversation.say({ chat: -1005, message: 3, thread: 12 }, 'Done', signal);
    expect(fake.called('sendMessage')).toEqual([
      {
        chat_id: -1005,
        message_thread_id: 12,
        text: 'Done',
        reply_parameters: reply,
        link_preview_options: { is_disabled: true },
      },
    ]);
  });

  it('cuts a long answer into up to five messages', async () => {
    await conversation.say(ref, lines(200), signal);
    expect(texts()).toHaveLength(5);
    expect(texts().join('\n')).toBe(lines(200));
    for (const text of texts()) expect(text.length).toBeLessThanOrEqual(4_096);
  });

  it('sends a longer one as a file that starts with its text', async () => {
    const text = `${lines(400)}\nend: ü😀`;
    await conversation.say({ ...ref, thread: 12 }, text, signal);
    expect(fake.calls).toEqual([
      {
        method: 'sendDocument',
        args: {
          chat_id: 7,
          message_thread_id: 12,
          document: { name: 'answer.md', text },
          caption: `${lines(10)} …`,
          reply_parameters: reply,
        },
      },
    ]);
  });

  it('continues an answer where it broke off', async () => {
    fake.fail('sendMessage', { result: { message_id: 1 } }, { status: 429, retryAfter: 3 });
    const failure = await failureOf(conversation.say(ref, lines(100), signal));
    expect(failure).toMatchObject({ fault: 'later', retryAfter: 3_000 });
    await conversation.say(ref, lines(100), signal);
    const [first, refused, ...rest] = texts();
    expect([first, ...rest].join('\n')).toBe(lines(100));
    expect(refused).toBe(rest[0]);
  });

  it('sends the same text again after a complete answer', async () => {
    await conversation.say(ref, 'Done', signal);
    await conversation.say(ref, 'Done', signal);
    expect(texts()).toEqual(['Done', 'Done']);
  });

  it.each(['', ' \n\t '])('reports that an answer of %j is empty', async (text) => {
    await conversation.say(ref, text, signal);
    expect(texts()).toEqual(['(The answer is empty.)']);
  });

  it('sends no half of a character', async () => {
    await conversation.say(ref, 'a\ud83d', signal);
    expect(texts()).toEqual(['a\ufffd']);
  });

  it('mentions no one in a group', async () => {
    const text = '@all ask @bob_w (@carl), mail a@b.test, @Override, @ 5';
    await conversation.say({ ...ref, chat: -1005 }, text, signal);
    await conversation.say(ref, text, signal);
    const kept = '@\u2060all ask @\u2060bob_w (@\u2060carl), mail a@b.test, @\u2060Override, @ 5';
    expect(texts()).toEqual([kept, text]);
  });

  it.each([{}, { chat: '7', message: 3, thread: null }, { chat: 7, message: 3 }])(
    'refuses to answer where %j',
    async (odd) => {
      const failure = await failureOf(conversation.say(odd, 'Done', signal));
      expect(failure).toEqual(
        new DeliveryError('telegram: could not answer: the chat is unknown', {
          fault: 'message',
        }),
      );
      expect(failure).toMatchObject({ fault: 'message' });
    },
  );
});

describe('TelegramConversation.mark', () => {
  const reaction = (emoji: string) => ({
    chat_id: 7,
    message_id: 3,
    reaction: [{ type: 'emoji', emoji }],
  });

  it('reacts to the message, and replaces the earlier reaction', async () => {
    for (const mark of ['working', 'waiting', 'done', 'failed'] as const) {
      await conversation.mark(ref, mark, signal);
    }
    expect(fake.called('setMessageReaction')).toEqual(['👀', '✍', '👍', '👎'].map(reaction));
  });

  it('shows typing once, at the beginning', async () => {
    await conversation.mark({ ...ref, thread: 12 }, 'working', signal);
    await conversation.mark({ ...ref, thread: 12 }, 'done', signal);
    expect(fake.called('sendChatAction')).toEqual([
      { chat_id: 7, action: 'typing', message_thread_id: 12 },
    ]);
  });

  it('continues where reactions are not allowed, and warns once', async () => {
    const refused = { status: 400, description: 'Bad Request: REACTION_INVALID' };
    fake.fail('setMessageReaction', refused, refused, 'html');
    fake.fail('sendChatAction', { status: 500 });
    await conversation.mark(ref, 'working', signal);
    await conversation.mark(ref, 'done', signal);
    await conversation.mark(ref, 'done', signal);
    expect(logged).toEqual([
      [
        {},
        'telegram: could not mark a message: Telegram refuses it with 400; answers are sent without reactions in that chat',
      ],
    ]);
  });
});
