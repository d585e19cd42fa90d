import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { FakeTelegram } from '../helpers/fake-telegram.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { deferring, launchAgent, reached, type TestAgent, textOf } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];

const chat = -100_123;

/** Starts a daemon of the agent that asks in a group of a fake Telegram. */
async function startDaemon(database: string, fake: FakeTelegram): Promise<TestAgent> {
  const folder = new AgentFolder({
    ...deferring({ to: `channel:telegram:${chat}`, approvers: ['ann@example.com'] }),
    channels: ['telegram'],
    store: { kind: 'postgres' },
  });
  const settings = { api_url: fake.apiUrl, people: { 7: 'ann@example.com' } };
  writeFileSync(join(folder.path, 'telegram-config.yaml'), JSON.stringify({ settings }));
  const env = { SERVICE_DATABASE_URL: server.url(database), TELEGRAM_BOT_TOKEN: fake.token };
  const agent = await launchAgent({}, { folder, env });
  onTestFinished(() => agent.close());
  return agent;
}

/** Resolves with the button that approves the newest message, and its place. */
async function buttonOf(fake: FakeTelegram, count: number) {
  const sent = (await fake.reached('sendMessage', count)).at(-1) ?? {};
  const [approve] = sent['reply_markup'].inline_keyboard[0] as { callback_data: string }[];
  return { data: approve?.callback_data ?? '', place: { chat, message: fake.lastMessage } };
}

const saidTo = (fake: FakeTelegram) => fake.called('answerCallbackQuery').map(({ text }) => text);

it('one of the daemons polls Telegram, each press decides once, and another daemon takes over', async () => {
  const database = await server.createDatabase();
  const fake = await FakeTelegram.start();
  const keeper = await startDaemon(database, fake);
  await vi.waitUntil(() => fake.isPolled, { timeout: 15_000, interval: 5 });
  const other = await startDaemon(database, fake);
  const paid = () => [...keeper.folder.paid, ...other.folder.paid].length;

  const answer = other.send('t1', pay);
  await reached(other, 't1', 'deferred');
  const { data, place } = await buttonOf(fake, 1);
  for (let press = 0; press < 3; press += 1) fake.press(data, place);
  expect(textOf(await answer)).toBe('paid {"amount":5}');
  await fake.reached('answerCallbackQuery', 3);
  expect([saidTo(fake)[0], paid()]).toEqual([undefined, 1]);
  // Only a daemon that keeps the channels asks who the bot is.
  expect(fake.called('getMe')).toHaveLength(1);

  await keeper.stop();
  fake.repeat();
  await fake.reached('answerCallbackQuery', 6);
  for (const text of saidTo(fake).slice(1)) {
    expect(text).toMatch(/^Nothing was decided: the call was approved by ann@example\.com/);
  }
  const later = other.send('t2', pay);
  const second = await buttonOf(fake, 2);
  fake.press(second.data, second.place);
  expect(textOf(await later)).toBe('paid {"amount":5}');
  expect([fake.called('getMe'), paid()]).toEqual([[{}, {}], 2]);
});
