import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hearMessage } from '../../../../src/actors/channels/telegram/hear-message.ts';
import {
  readUpdates,
  type TelegramMessage,
} from '../../../../src/actors/channels/telegram/telegram-update.ts';

const self = { id: 4242, username: 'DeskBot', name: 'Desk' };
const ann = { id: 7, is_bot: false, first_name: 'Ann', last_name: 'West', username: 'Ann_W' };
const privateChat = { id: 7, type: 'private' };
const group = { id: -100_5, type: 'supergroup' };

/** A message as it is read off an update. */
function said(message: Record<string, unknown>): TelegramMessage {
  const whole = { message_id: 3, chat: privateChat, from: ann, ...message };
  const [update] = readUpdates([{ update_id: 1, message: whole }]).updates;
  if (!update?.message) throw new Error('the message of the test cannot be read');
  return update.message;
}

function hear(message: Record<string, unknown>, allowedUsers: string[] | null = null) {
  return hearMessage(said(message), { self, allowedUsers });
}

/** A group's message with an entity on every one of these words. */
function inGroup(text: string, marked: [type: string, word: string, user?: object][] = []) {
  const entities = marked.map(([type, word, user]) => ({
    type,
    offset: text.indexOf(word),
    length: word.length,
    ...(user !== undefined && { user }),
  }));
  return { chat: group, text, entities };
}

const hint = (text: string, chat = 7) => ({
  kind: 'hint',
  ref: { chat, message: 3, thread: null },
  text,
});

describe('hearMessage', () => {
  it('makes a task of a private message', () => {
    expect(hear({ text: ' Refund order 7 \n' })).toEqual({
      kind: 'task',
      message: {
        adapter: 'telegram',
        id: '7.3',
        thread: 'telegram.7',
        text: 'Refund order 7',
        from: { id: 'telegram:7', name: 'Ann West', email: null },
        ref: { chat: 7, message: 3, thread: null },
      },
    });
  });

  it('makes a thread of a topic, and none of a reply', () => {
    const about = (more: object) => {
      const heard = hear({ ...inGroup('@DeskBot go', [['mention', '@DeskBot']]), ...more });
      return heard?.kind === 'task' ? [heard.message.thread, heard.message.ref] : heard;
    };
    expect(about({ message_thread_id: 12, is_topic_message: true })).toEqual([
      'telegram.-1005.12',
      { chat: -1005, message: 3, thread: 12 },
    ]);
    expect(about({ message_thread_id: 12 })).toEqual([
      'telegram.-1005',
      { chat: -1005, message: 3, thread: null },
    ]);
  });

  it.each([
    [
      'a mention in front',
      inGroup('@deskbot what is up?', [['mention', '@deskbot']]),
      'what is up?',
    ],
    ['a mention behind', inGroup('What is up @DeskBot', [['mention', '@DeskBot']]), 'What is up'],
    ['a mention within', inGroup('Ask @DeskBot now', [['mention', '@DeskBot']]), 'Ask now'],
    [
      'a mention after wide characters',
      inGroup('😀 @DeskBot go', [['mention', '@DeskBot']]),
      '😀 go',
    ],
    ['a mention by name', inGroup('Desk, go', [['text_mention', 'Desk,', { id: 4242 }]]), 'go'],
    ['a command for it', inGroup('/do@DeskBot it', [['bot_command', '/do@DeskBot']]), '/do it'],
    [
      'a mention of another bot next to it',
      inGroup('@DeskBot ask @bob', [
        ['mention', '@DeskBot'],
        ['mention', '@bob'],
      ]),
      'ask @bob',
    ],
    [
      'a reply to it',
      { chat: group, text: 'And then?', reply_to_message: { from: { id: 4242 } } },
      'And then?',
    ],
    [
      'a mention in the caption of a picture',
      {
        chat: group,
        photo: [{}],
        caption: '@DeskBot what is this?',
        caption_entities: [{ type: 'mention', offset: 0, length: 8 }],
      },
      'what is this?',
    ],
  ])('accepts %s in a group', (_, message, text) => {
    expect(hear(message)).toMatchObject({ kind: 'task', message: { text } });
  });

  it.each([
    ['a group message to no one', inGroup('Lunch?')],
    ['a mention of another bot', inGroup('@DeskBot2 go', [['mention', '@DeskBot2']])],
    ['a mention of a person by name', inGroup('Desk, go', [['text_mention', 'Desk,', { id: 9 }]])],
    ['a mention without an entity', inGroup('`@DeskBot`')],
    ['a command for another bot', inGroup('/help@DeskBot2', [['bot_command', '/help@DeskBot2']])],
    [
      'a reply to another person',
      { chat: group, text: 'Hi', reply_to_message: { from: { id: 9 } } },
    ],
    [
      'a message in a topic that the bot created',
      {
        chat: group,
        text: 'Hi',
        reply_to_message: { from: { id: 4242 }, forum_topic_created: {} },
      },
    ],
    ['a bot', { text: 'Hi', from: { ...ann, is_bot: true } }],
    ['itself', { text: 'Hi', from: { ...ann, id: 4242, is_bot: true } }],
    ['nobody', { text: 'Hi', from: undefined }],
    [
      'an author in the name of a chat',
      { ...inGroup('@DeskBot', [['mention', '@DeskBot']]), sender_chat: {} },
    ],
    ['a channel', { chat: { id: -1, type: 'channel' }, text: 'News' }],
    ['a join notice', { new_chat_members: [{}] }],
  ])('ignores %s', (_, message) => {
    expect(hear(message)).toBeNull();
  });

  it.each(['/start', '/start abc', '/help', '/HELP', '/start@DeskBot'])('greets on %s', (text) => {
    expect(hear({ text })).toEqual(hint('I am Desk. Write to me, and the answer comes here.'));
  });

  it('explains how to mention it in a group', () => {
    const how =
      'I am Desk. Mention @DeskBot with a question, or reply to me, and the answer comes here.';
    expect(hear(inGroup('@DeskBot', [['mention', '@DeskBot']]))).toEqual(hint(how, -1005));
    expect(hear(inGroup('/help@DeskBot', [['bot_command', '/help@DeskBot']]))).toEqual(
      hint(how, -1005),
    );
  });

  it.each(['photo', 'voice', 'sticker', 'document', 'poll'])(
    'answers that it reads no %s',
    (kind) => {
      const text = 'I can read text only. Describe your request in a message.';
      expect(hear({ [kind]: {} })).toEqual(hint(text));
    },
  );

  it.each([
    ['their id', ['7']],
    ['their name', ['ann_w']],
    ['their name with an @', ['@ANN_W']],
    ['others too', ['9', ' @ann_w ']],
  ])('accepts people on the list by %s', (_, allowed) => {
    expect(hear({ text: 'Hi' }, allowed)).toMatchObject({ kind: 'task' });
  });

  it.each([
    ['an empty list', []],
    ['others', ['8', '@ann', 'ann_w2']],
    ['an empty name', ['@', '']],
    ['their display name', ['Ann', 'Ann West']],
  ])('refuses all other people, with %s', (_, allowed) => {
    const refusal = {
      kind: 'refusal',
      ref: { chat: 7, message: 3, thread: null },
      person: 'telegram:7',
      text: 'You are not on the list of users of this agent. Your Telegram id is 7; send it to the operator of the agent.',
    };
    expect(hear({ text: 'Hi' }, allowed)).toEqual(refusal);
    expect(hear({ text: '/start' }, allowed)).toEqual(refusal);
    expect(hear({ photo: [{}] }, allowed)).toEqual(refusal);
  });

  it('does not take a numeric name for an id', () => {
    const from = { ...ann, id: 70, username: '7' };
    expect(hear({ text: 'Hi', from }, ['7'])).toMatchObject({ kind: 'refusal' });
  });

  it.each([
    [{ first_name: 'Ann' }, 'Ann'],
    [{ first_name: ' ', username: 'ann' }, 'ann'],
    [{ first_name: '' }, '7'],
    [{ first_name: 'x'.repeat(300) }, 'x'.repeat(100)],
  ])('names a person %j', (names, name) => {
    const from = { id: 7, is_bot: false, ...names };
    expect(hear({ text: 'Hi', from })).toMatchObject({ message: { from: { name } } });
  });

  it('names every thread in characters that a task id may have', () => {
    const ids = fc.maxSafeInteger();
    fc.assert(
      fc.property(ids, fc.option(ids), (id, topic) => {
        const thread = topic === null ? {} : { message_thread_id: topic, is_topic_message: true };
        const heard = hear({ text: 'Hi', chat: { id, type: 'private' }, ...thread });
        const message = heard?.kind === 'task' ? heard.message : null;
        expect(message?.thread).toMatch(/^[A-Za-z0-9._:-]{1,100}$/);
      }),
    );
  });

  it('never throws, with entities at any offset', () => {
    const entity = fc.record({
      type: fc.constantFrom('mention', 'text_mention', 'bot_command', 'bold'),
      offset: fc.nat(60),
      length: fc.integer({ min: 1, max: 60 }),
      user: fc.record({ id: fc.constantFrom(4242, 9) }),
    });
    fc.assert(
      fc.property(fc.string(), fc.array(entity), (text, entities) => {
        hear({ chat: group, text: `@DeskBot${text}`, entities });
      }),
    );
  });
});
