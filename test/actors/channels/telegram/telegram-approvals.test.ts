import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../../../helpers/agent-folder.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { deferring, reached, startInFolder, textOf } from '../../../helpers/test-agent.ts';
import { until } from './a-telegram.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];

const chat = -100_123;

const bob = { id: 8, first_name: 'Bob' };
const eve = { id: 9, first_name: 'Eve' };

/** An agent that asks for releases of `pay` in a group of a fake Telegram, where Ann (7) and Bob (8) may decide. */
async function startBot(rule: object = {}, defer: object = {}) {
  const fake = await FakeTelegram.start();
  const approvers = ['ann@example.com', 'bob@example.com'];
  const folder = new AgentFolder({
    ...deferring({ to: `channel:telegram:${chat}`, approvers, ...rule }, defer),
    channels: ['telegram'],
  });
  onTestFinished(() => folder.remove());
  const people = { 7: 'ann@example.com', 8: 'bob@example.com' };
  const settings = { api_url: fake.apiUrl, people };
  writeFileSync(join(folder.path, 'telegram-config.yaml'), JSON.stringify({ settings }));
  const start = () => startInFolder(folder, { TELEGRAM_BOT_TOKEN: fake.token });
  const agent = await start();
  return { fake, folder, agent, start };
}

type Bot = Awaited<ReturnType<typeof startBot>>;

/** Sends a task and returns its answer, with the message that asks and the data of its buttons. */
async function asked(
  { agent, fake }: Pick<Bot, 'agent' | 'fake'>,
  id = 't1',
  script: object[] = pay,
) {
  const before = fake.called('sendMessage').length;
  const answer = agent.send(id, script);
  answer.catch(() => undefined);
  const sent = (await fake.reached('sendMessage', before + 1))[before] ?? {};
  const buttons = sent['reply_markup'].inline_keyboard[0] as {
    text: string;
    callback_data: string;
  }[];
  const dataOf = (text: string) => buttons.find((one) => one.text === text)?.callback_data ?? '';
  const place = { chat, message: fake.lastMessage };
  return { answer, sent, place, approve: dataOf('Approve'), reject: dataOf('Reject') };
}

/** Returns the answer to the last press. */
async function told(fake: FakeTelegram, count = 1) {
  const answers = await fake.reached('answerCallbackQuery', count);
  return answers.at(-1)?.['text'];
}

const decisionsOf = ({ agent }: Bot) =>
  agent
    .audit('t1')
    .filter(({ event }) => event === 'task_deferred_decision')
    .map(({ fields = {} }) => [
      fields['decision'],
      fields['approver'],
      fields['authorized'] ?? true,
    ]);

const stale = 'This message is out of date or belongs to no approval, so nothing was decided.';

describe('an approval in Telegram', () => {
  it('shows the call as plain text, is approved by a button, and shows the outcome', async () => {
    const bot = await startBot();
    const { fake, agent } = bot;
    const { answer, sent, place, approve } = await asked(bot);
    expect(sent).toMatchObject({ chat_id: chat, link_preview_options: { is_disabled: true } });
    expect(sent['parse_mode']).toBeUndefined();
    expect(sent['text'].split('\n').slice(0, 4)).toEqual([
      ...['Approval needed: pay', 'Requested by: unknown', '', 'amount: 5'],
    ]);
    fake.press(approve, place);
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    expect(await told(fake)).toBeUndefined();
    await until(() => fake.called('editMessageText').at(-1)?.['text'].includes('Outcome: ran'));
    const edited = fake.called('editMessageText').at(-1);
    expect(edited).toMatchObject({
      ...{ chat_id: chat, message_id: place.message, reply_markup: { inline_keyboard: [] } },
    });
    expect(edited?.['text']).toContain('The call was approved by ann@\u2060example.com.');
    expect(decisionsOf(bot)).toEqual([['approve', 'ann@example.com', true]]);
    const [fields] = agent
      .audit('t1')
      .flatMap(({ event, fields: one }) => (event === 'task_deferred_decision' ? [one] : []));
    expect(fields).toMatchObject({
      ...{ vouched_by: 'chat:telegram', provider: 'chat', user_id: 'telegram:7' },
    });
  });

  it.each<[string, (bot: Bot, press: Awaited<ReturnType<typeof asked>>) => void, string]>([
    [
      'a person without an entry',
      ({ fake }, { approve, place }) => fake.press(approve, place, eve),
      'You are not listed under people of this agent, so nothing was decided.',
    ],
    [
      'data of another approval',
      ({ fake }, { place }) => fake.press(`approve:${'0'.repeat(32)}`, place),
      stale,
    ],
    ['invalid data', ({ fake }, { place }) => fake.press('approve', place), stale],
    [
      'another message of the chat',
      ({ fake }, { approve }) => fake.press(approve, { chat, message: 9_999 }),
      stale,
    ],
    [
      'the same message number of another chat',
      ({ fake }, { approve, place }) => fake.press(approve, { ...place, chat: -5 }),
      stale,
    ],
    [
      'a message of another bot',
      ({ fake }, { approve, place }) =>
        fake.press(
          approve,
          place,
          {},
          {
            message: { message_id: place.message, chat: { id: chat }, from: { id: 1 } },
          },
        ),
      stale,
    ],
    [
      'an inline message',
      ({ fake }, { approve, place }) => fake.press(approve, place, {}, { message: undefined }),
      stale,
    ],
    [
      'a bot',
      ({ fake }, { approve, place }) => fake.press(approve, place, { is_bot: true }),
      stale,
    ],
  ])('refuses %s with one message, and decides nothing', async (_, press, sentence) => {
    const bot = await startBot();
    const held = await asked(bot);
    press(bot, held);
    expect(await told(bot.fake)).toBe(sentence);
    expect(decisionsOf(bot).filter(([, , isAllowed]) => isAllowed)).toEqual([]);
    expect(bot.folder.paid).toEqual([]);
    await reached(bot.agent, 't1', 'deferred');
  });

  it('counts once, and shows a second person who decided', async () => {
    const bot = await startBot();
    const { answer, place, approve, reject } = await asked(bot);
    bot.fake.press(approve, place);
    bot.fake.press(reject, place, bob);
    expect(textOf(await answer)).toBe('paid {"amount":5}');
    expect(await told(bot.fake, 2)).toMatch(
      /^Nothing was decided: .*approved by ann@example\.com\.$/,
    );
    expect(decisionsOf(bot)).toEqual([['approve', 'ann@example.com', true]]);
    expect(bot.folder.paid).toHaveLength(1);
  });

  it('asks for the required reason, and accepts it from that person only', async () => {
    const bot = await startBot({ require_reason: 'reject' });
    const { fake } = bot;
    const { answer, place, reject } = await asked(bot);
    fake.press(reject, place);
    expect(await told(fake)).toBe('Reply to the question with the reason.');
    const question = fake.called('sendMessage').at(-1) ?? {};
    expect(question).toMatchObject({
      ...{ chat_id: chat, reply_markup: { force_reply: true, selective: true } },
      text: 'Reason needed: reply to this message with the reason to reject the call.',
    });
    const to = { message_id: fake.lastMessage, text: question['text'], from: fake.self };
    const say = (text: string, user: Record<string, unknown>) =>
      fake.say({ text, chat, user, more: { reply_to_message: to } });
    say('Not paid', bob);
    const replies = await fake.reached('sendMessage', 3);
    expect(replies.at(-1)?.['text']).toBe(
      'The question is for another person, so nothing was decided.',
    );
    say('Never paid', {});
    expect((await answer).body.status.state).toBe('failed');
    expect(decisionsOf(bot)).toEqual([['reject', 'ann@example.com', true]]);
    say('Again', {});
    expect((await fake.reached('sendMessage', 4)).at(-1)?.['text']).toBe(
      'This question is closed, so nothing was decided. Press the button again.',
    );
  });

  it('offers no approval of a call that is not shown whole, and refuses a forged one', async () => {
    const bot = await startBot();
    const script = [{ tool: 'pay', args: { amount: 5, why: 'x'.repeat(9_000) } }, { say: 'paid' }];
    const { sent, place, approve, reject } = await asked(bot, 't1', script);
    expect(approve).toBe('');
    expect(sent['text'].length).toBeLessThanOrEqual(4_096);
    expect(sent['text']).toContain('A part of the call is not shown here.');
    bot.fake.press(reject.replace('reject', 'approve'), place);
    expect(await told(bot.fake)).toBe(
      'A part of the call is not shown here, so nothing was decided. Approve it elsewhere.',
    );
    expect(decisionsOf(bot)).toEqual([]);
  });

  it('decides after a restart a call that was posted before it', async () => {
    const bot = await startBot({}, { on_restart: 'resume' });
    const { fake, agent } = bot;
    const { place, approve } = await asked(bot);
    await agent.stop();
    const again = await bot.start();
    fake.press(approve, place);
    await reached(again, 't1', 'completed');
    expect(bot.folder.paid).toHaveLength(1);
  });

  it('posts again after a rate limit, when Telegram allows it', async () => {
    const bot = await startBot();
    bot.fake.fail('sendMessage', { status: 429, retryAfter: 1 });
    void bot.agent.send('t1', pay).catch(() => undefined);
    await bot.fake.reached('sendMessage', 2);
    expect(bot.fake.called('sendMessage').map((sent) => sent['chat_id'])).toEqual([chat, chat]);
  });
});
