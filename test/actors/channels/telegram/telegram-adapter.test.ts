import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { FakeTelegram, type TelegramFault } from '../../../helpers/fake-telegram.ts';
import { startTelegram, until } from './a-telegram.ts';

const greeting = 'I am Desk. Write to me, and the answer comes here.';
const badToken =
  'Telegram rejected the bot token; copy it from @BotFather again and restart the agent';
const rival =
  'another process reads the messages of this bot; stop it, or use a separate bot for each agent';

const polls = (fake: FakeTelegram) => fake.called('getUpdates');

describe('the Telegram adapter', () => {
  it('connects, removes the webhook and polls for messages', async () => {
    const { adapter, fake, states, logged, changed } = await startTelegram();
    await changed(2);
    await fake.reached('getUpdates');
    expect(fake.calls).toEqual([
      { method: 'getMe', args: {} },
      { method: 'deleteWebhook', args: { drop_pending_updates: false } },
      {
        method: 'getUpdates',
        args: { timeout: 30, allowed_updates: ['message', 'callback_query'] },
      },
    ]);
    expect(states).toEqual(['connecting', 'connected']);
    expect([adapter.name, adapter.state]).toEqual(['telegram', 'connected']);
    expect(adapter.capabilities).toEqual({ approvals: true, conversations: true });
    expect(logged).toEqual([['info', { bot: 4242, username: 'DeskBot' }, 'telegram: connected']]);
  });

  it('delivers earlier and new messages, once each', async () => {
    const fake = await FakeTelegram.start();
    fake.say({ text: 'one' });
    const { heard } = await startTelegram({ fake });
    await fake.reached('getUpdates', 2);
    fake.say({ text: 'two' });
    await fake.reached('getUpdates', 3);
    expect(heard.map(({ id, text }) => [id, text])).toEqual([
      ['7.1', 'one'],
      ['7.2', 'two'],
    ]);
    expect(polls(fake).map(({ offset }) => offset)).toEqual([undefined, 102, 103]);
  });

  it('answers a greeting itself, after it is acknowledged to Telegram', async () => {
    const { fake, heard } = await startTelegram();
    fake.say({ text: '/start' });
    await fake.reached('sendMessage');
    const methods = fake.calls.map(({ method }) => method);
    expect(methods.slice(0, 4)).toEqual(['getMe', 'deleteWebhook', 'getUpdates', 'getUpdates']);
    expect(polls(fake)[1]).toMatchObject({ offset: 102, timeout: 0 });
    expect(fake.called('sendMessage')).toMatchObject([{ chat_id: 7, text: greeting }]);
    expect(heard).toEqual([]);
  });

  it('answers a greeting once, although the connection breaks before it is acknowledged', async () => {
    const { fake, clock, changed } = await startTelegram();
    await fake.reached('getUpdates');
    fake.fail('getUpdates', 'reset');
    fake.say({ text: '/start' });
    await changed(3);
    expect(fake.called('sendMessage')).toEqual([]);
    clock.advance(1_000);
    await fake.reached('sendMessage');
    await fake.reached('getUpdates', 4);
    expect(fake.called('sendMessage')).toMatchObject([{ text: greeting }]);
  });

  it('refuses each stranger once, and makes no task of their messages', async () => {
    const { fake, heard } = await startTelegram({ allowedUsers: ['@ann_w'] });
    const user = { id: 9, username: 'eve' };
    fake.say({ text: 'Refund me', user, chat: 9 });
    await fake.reached('sendMessage');
    fake.say({ text: 'Please', user, chat: 9 });
    fake.say({ text: 'Hi' });
    await until(() => heard.length > 0);
    fake.say({ text: '/start' });
    await fake.reached('sendMessage', 2);
    expect(heard.map(({ text }) => text)).toEqual(['Hi']);
    expect(fake.called('sendMessage').map(({ chat_id: chat }) => chat)).toEqual([9, 7]);
  });

  it('treats an album as one message', async () => {
    const { fake, heard } = await startTelegram();
    const picture = (album: string, more: object = {}) =>
      fake.say({ more: { photo: [{}], media_group_id: album, ...more } });
    picture('a', { caption: 'What are these?' });
    picture('a');
    picture('b');
    picture('b');
    fake.say({ text: 'end' });
    await until(() => heard.length > 1);
    fake.say({ text: '/help' });
    await fake.reached('sendMessage', 2);
    expect(heard.map(({ text }) => text)).toEqual(['What are these?', 'end']);
    expect(fake.called('sendMessage').map(({ text }) => text)).toEqual([
      'I can read text only. Describe your request in a message.',
      greeting,
    ]);
  });

  it('drops what cannot be answered', async () => {
    const { fake, logged } = await startTelegram();
    await fake.reached('getUpdates');
    fake.fail('sendMessage', { status: 403 });
    fake.say({ text: '/start' });
    fake.say({ text: '/help' });
    await fake.reached('sendMessage', 2);
    expect(logged.slice(1)).toEqual([
      [
        'warn',
        {},
        'telegram: could not send a message: Telegram lets the bot write there no longer: it was blocked, or is not in the group; add it again',
      ],
    ]);
  });

  it('receives nothing without conversations', async () => {
    const { fake } = await startTelegram({ conversations: null });
    fake.say({ text: '/start' });
    await until(() => polls(fake).at(-1)?.['offset'] === 102);
    expect(fake.called('sendMessage')).toEqual([]);
  });

  it('stops all work when it is stopped', async () => {
    const { adapter, fake, clock, states } = await startTelegram();
    await fake.reached('getUpdates');
    fake.fail('sendMessage', 'hang');
    fake.say({ text: '/start' });
    await fake.reached('sendMessage');
    await adapter.stop();
    await adapter.stop();
    expect(states).toEqual(['connecting', 'connected', 'closed']);
    expect(clock.pending).toBe(0);
    const calls = fake.calls.length;
    fake.say({ text: 'Anybody there?' });
    clock.advance(600_000);
    expect(fake.calls).toHaveLength(calls);
  });
});

/** How long it is left alone after faults in a row that may pass, in milliseconds. */
const pauses = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000];

describe('the connection to Telegram', () => {
  it.each<[string, string, TelegramFault, string]>([
    ['getMe', 'a bad token', { status: 401 }, `ask who the bot is: ${badToken}`],
    ['getMe', 'no token at all', { status: 404 }, `ask who the bot is: ${badToken}`],
    ['getUpdates', 'a token revoked', { status: 401 }, `read new messages: ${badToken}`],
    ['getUpdates', 'another process', { status: 409 }, `read new messages: ${rival}`],
    [
      'getUpdates',
      'a webhook',
      { status: 409, description: "Conflict: can't use getUpdates method while webhook is active" },
      'read new messages: another process keeps setting a webhook for this bot; use a separate bot for each agent',
    ],
  ])('waits five minutes when %s reports %s for a minute', async (method, _, fault, why) => {
    const fake = await FakeTelegram.start();
    fake.fail(method, ...pauses.map(() => fault), fault);
    const { adapter, clock, states, logged } = await startTelegram({ fake });
    for (const [index, pause] of pauses.entries()) {
      await until(() => fake.called(method).length === index + 1 && adapter.state === 'backoff');
      clock.advance(pause);
    }
    await until(() => adapter.state === 'failed');
    const complaints = logged.filter(([level]) => level !== 'info');
    expect(new Set(complaints.map((line) => JSON.stringify(line)))).toEqual(
      new Set([JSON.stringify(['warn', { lasting: 'maybe' }, `telegram: could not ${why}`])]),
    );
    const before = fake.called('getMe').length;
    clock.advance(299_999);
    expect(fake.called('getMe')).toHaveLength(before);
    clock.advance(1);
    await until(() => adapter.state === 'connected');
    expect(states.slice(-3)).toEqual(['failed', 'connecting', 'connected']);
  });

  it('receives messages again a second after another process polled briefly', async () => {
    const { fake, clock, heard, states, changed } = await startTelegram();
    await fake.reached('getUpdates');
    fake.conflict();
    await changed(3);
    fake.say({ text: 'Hi' });
    clock.advance(1_000);
    await until(() => heard.length === 1);
    expect(states).toEqual(['connecting', 'connected', 'backoff', 'connecting', 'connected']);
  });

  it('pauses as long as Telegram requests', async () => {
    const { adapter, fake, clock, changed } = await startTelegram();
    await fake.reached('getUpdates');
    fake.fail('getUpdates', { status: 429, retryAfter: 20 });
    fake.say({ text: 'Hi' });
    await changed(3);
    clock.advance(19_999);
    expect(adapter.state).toBe('backoff');
    clock.advance(1);
    await changed(5);
    expect(adapter.state).toBe('connected');
  });

  it.each<[string, TelegramFault]>([
    ['a failure', { status: 500 }],
    ['a page', 'html'],
    ['a reset', 'reset'],
    ['a response that is not a list', { result: { updates: 1 } }],
    ['a list of unknown entries', { result: [null, { update_id: 'x' }] }],
  ])('reconnects after %s, and logs the reason once', async (_, fault) => {
    const fake = await FakeTelegram.start();
    fake.fail('getUpdates', fault);
    const { clock, heard, states, logged, changed } = await startTelegram({ fake });
    await changed(3);
    clock.advance(1_000);
    await changed(5);
    fake.say({ text: 'Hi' });
    await until(() => heard.length > 0);
    expect(states).toEqual(['connecting', 'connected', 'backoff', 'connecting', 'connected']);
    expect(logged.map(([level]) => level)).toEqual(['info', 'warn', 'info']);
  });

  it('logs once why it cannot connect, and again when that recurs later', async () => {
    const fake = await FakeTelegram.start();
    fake.fail('getMe', 'reset', 'reset', 'reset');
    const { adapter, clock, logged } = await startTelegram({ fake });
    for (const pause of [1_000, 2_000, 4_000]) {
      await until(() => adapter.state === 'backoff');
      clock.advance(pause);
    }
    await fake.reached('getUpdates');
    fake.fail('getMe', 'reset');
    fake.conflict();
    await until(() => adapter.state === 'backoff');
    clock.advance(8_000);
    await until(() => fake.called('getMe').length === 5 && adapter.state === 'backoff');
    const why =
      'telegram: could not ask who the bot is: Telegram cannot be reached, or returned an unknown response';
    expect(logged.map(([, , message]) => message)).toEqual([
      why,
      'telegram: connected',
      `telegram: could not read new messages: ${rival}`,
      why,
    ]);
  });

  it('reconnects when an answer does not arrive', async () => {
    const fake = await FakeTelegram.start();
    fake.fail('getUpdates', 'hang');
    const { clock, states, changed } = await startTelegram({ fake });
    await fake.reached('getUpdates');
    clock.advance(39_999);
    expect(states).toEqual(['connecting', 'connected']);
    clock.advance(1);
    await changed(3);
    clock.advance(1_000);
    await changed(5);
    expect(states.slice(2)).toEqual(['backoff', 'connecting', 'connected']);
  });

  it('ignores repeated updates', async () => {
    const { fake, clock, heard, changed } = await startTelegram();
    await fake.reached('getUpdates');
    const from = { id: 7, is_bot: false, first_name: 'Ann' };
    const message = { message_id: 1, chat: { id: 7, type: 'private' }, from, text: 'Hi' };
    fake.fail('getUpdates', { result: [{ update_id: 101, message }] });
    fake.push({ message });
    await changed(3);
    clock.advance(1_000);
    await changed(5);
    expect(heard).toHaveLength(1);
  });

  it('accepts a message with a smaller number after a silence', async () => {
    const { fake, clock, heard } = await startTelegram();
    fake.say({ text: 'one' });
    await fake.reached('getUpdates', 2);
    clock.jump(30_000);
    fake.silence();
    await fake.reached('getUpdates', 3);
    fake.say({ text: 'two', update: 5 });
    await fake.reached('getUpdates', 4);
    expect(polls(fake).map(({ offset }) => offset)).toEqual([undefined, 102, undefined, 6]);
    expect(heard.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('waits a second when Telegram answers at once with nothing', async () => {
    const fake = await FakeTelegram.start();
    fake.fail('getUpdates', { result: [] }, { result: [] }, { result: [] });
    const { adapter, clock } = await startTelegram({ fake });
    await fake.reached('getUpdates');
    const { signal } = new AbortController();
    const ref = { chat: 7, message: 1, thread: null };
    for (let said = 0; said < 20; said += 1) await adapter.conversation.say(ref, 'Hi', signal);
    expect(polls(fake)).toHaveLength(1);
    clock.advance(1_000);
    await fake.reached('getUpdates', 2);
  });

  it('acknowledges a message and fetches the next one after it was stored', async () => {
    const tried: string[] = [];
    const keeping = Promise.withResolvers<boolean>();
    const conversations = {
      receive: ({ text }: { text: string }) => {
        tried.push(text);
        return keeping.promise;
      },
    };
    const { fake } = await startTelegram({ conversations });
    fake.say({ text: 'one' });
    fake.say({ text: 'two' });
    await until(() => tried.length > 0);
    await setImmediate();
    const before = [[...tried], polls(fake).length];
    keeping.resolve(true);
    await until(() => polls(fake).at(-1)?.['offset'] === 103);
    expect([before, tried]).toEqual([
      [['one'], 1],
      ['one', 'two'],
    ]);
  });

  it('retries a message that could not be stored, and skips it after five attempts', async () => {
    const tried: string[] = [];
    const conversations = {
      receive: async ({ text }: { text: string }) => {
        tried.push(text);
        if (text === 'bad') throw new Error('disk full');
        return true;
      },
    };
    const { adapter, fake, clock, logged } = await startTelegram({ conversations });
    fake.say({ text: 'bad' });
    fake.say({ text: 'good' });
    for (let pause = 1_000; pause < 16_000; pause *= 2) {
      await until(() => adapter.state === 'backoff');
      clock.advance(pause);
    }
    await until(() => tried.includes('good'));
    expect(tried).toEqual(['bad', 'bad', 'bad', 'bad', 'bad', 'good']);
    expect(logged.filter(([level]) => level === 'error')).toHaveLength(5);
  });

  it('retries a message while the agent accepts none', async () => {
    const tried: string[] = [];
    const conversations = { receive: async ({ text }: { text: string }) => tried.push(text) > 7 };
    const { adapter, fake, clock, logged } = await startTelegram({ conversations });
    fake.say({ text: 'Hi' });
    for (let times = 1; times <= 7; times += 1) {
      await until(() => tried.length === times && adapter.state === 'backoff');
      clock.advance(Math.min(60_000, 1_000 * 2 ** (times - 1)));
    }
    await until(() => polls(fake).at(-1)?.['offset'] === 102);
    expect(tried).toEqual(Array.from({ length: 8 }, () => 'Hi'));
    const why = 'telegram: a message was rejected: the agent accepts none now';
    expect(new Set(logged.filter(([level]) => level !== 'info').map(([, , text]) => text))).toEqual(
      new Set([why]),
    );
  });

  it('survives fifty broken connections without a trace of its token', async () => {
    const fake = await FakeTelegram.start();
    const faults: TelegramFault[] = [
      'reset',
      'html',
      { status: 502 },
      { status: 401 },
      { result: 1 },
    ];
    const methods = ['getMe', 'deleteWebhook', 'getUpdates'];
    for (let index = 0; index < 50; index += 1) {
      fake.fail(methods[index % 3] ?? '', faults[index % 5] ?? 'reset');
    }
    const { adapter, clock, heard, states, logged } = await startTelegram({ fake });
    fake.say({ text: 'Still there?' });
    await until(() => {
      if (['backoff', 'failed'].includes(adapter.state)) clock.advance(300_000);
      return heard.length > 0;
    });
    expect(heard.map(({ text }) => text)).toEqual(['Still there?']);
    expect(states.filter((state) => ['backoff', 'failed'].includes(state)).length).toBeGreaterThan(
      40,
    );
    expect(inspect([logged, states], { depth: 20 })).not.toContain('canary');
    await adapter.stop();
    expect(clock.pending).toBe(0);
  });
});
