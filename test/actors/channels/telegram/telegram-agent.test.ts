import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../../../helpers/agent-folder.ts';
import { FakeTelegram } from '../../../helpers/fake-telegram.ts';
import { deferring, startInFolder, type TestAgent } from '../../../helpers/test-agent.ts';
import { until } from './a-telegram.ts';

/** An agent whose bot is on a fake Telegram; both end with the test. */
async function startBot(settings: ServiceSettings = {}, telegram: object = {}) {
  const fake = await FakeTelegram.start();
  const folder = new AgentFolder({ channels: ['telegram'], ...settings });
  onTestFinished(() => folder.remove());
  const config = { adapter: 'telegram', settings: { api_url: fake.apiUrl, ...telegram } };
  writeFileSync(join(folder.path, 'telegram-config.yaml'), JSON.stringify(config));
  const start = () => startInFolder(folder, { TELEGRAM_BOT_TOKEN: fake.token });
  return { fake, folder, agent: await start(), start };
}

const texts = (fake: FakeTelegram) => fake.called('sendMessage').map(({ text }) => text);
const marks = (fake: FakeTelegram) =>
  fake.called('setMessageReaction').map(({ message_id: id, reaction }) => [id, reaction[0].emoji]);

/** Expects that neither the log nor the audit log of an agent tells the token. */
function expectKept({ log, auditPath }: TestAgent): void {
  const told = inspect(log, { depth: 20 }) + readFileSync(auditPath, 'utf8');
  expect(told).toContain('telegram');
  expect(told).not.toContain('canary');
}

describe('an agent on Telegram', () => {
  it('answers a message, as a task of the chat in the name of its author', async () => {
    const { fake, agent } = await startBot();
    const id = fake.say({ text: 'hello' });
    await fake.reached('setMessageReaction', 2);
    expect(texts(fake)).toEqual(['echo: hello']);
    expect(marks(fake)).toEqual([
      [id, '👀'],
      [id, '👍'],
    ]);
    const { body } = await agent.as(agent.token).get('/tasks/telegram.7');
    expect([body.contextId, body.status.state]).toEqual(['telegram.7', 'completed']);
    const lines = agent.audit('telegram.7').filter(({ event }) => event !== 'egress_allowed');
    const callers = lines.map((line) => line['invocation_caller']);
    expect(new Set(callers)).toEqual(new Set(['telegram:7']));
    expectKept(agent);
  });

  it('continues the earlier messages of the chat', async () => {
    const { fake, agent } = await startBot();
    fake.say({ text: 'one' });
    fake.say({ text: 'two' });
    await fake.reached('sendMessage', 2);
    fake.say({ text: 'three' });
    await fake.reached('sendMessage', 3);
    expect(texts(fake)).toEqual(['echo: one', 'echo: two', 'echo: three']);
    const { body } = await agent.as(agent.token).get('/tasks/telegram.7?historyLength=100');
    const said = body.history.map(({ parts }: any) => parts[0].text);
    expect(said.filter((text: string) => !text.startsWith('echo'))).toEqual([
      'one',
      'two',
      'three',
    ]);
  });

  it('answers in the group of the mention, and nowhere else', async () => {
    const { fake } = await startBot();
    const entities = [{ type: 'mention', offset: 0, length: 8 }];
    fake.say({ text: 'lunch?', chat: -1005 });
    fake.say({ text: '@DeskBot ask @bob', chat: -1005, more: { entities } });
    await fake.reached('sendMessage');
    expect(fake.called('sendMessage')).toEqual([
      {
        chat_id: -1005,
        text: 'echo: ask @\u2060bob',
        reply_parameters: { message_id: 2, allow_sending_without_reply: true },
        link_preview_options: { is_disabled: true },
      },
    ]);
  });

  it('reports that it waits for an approval, and the outcome', async () => {
    const model = { script: [{ tool: 'pay', args: { amount: 7 } }, { say: 'paid: {result}' }] };
    const { fake, agent } = await startBot({ ...deferring(), model });
    fake.say({ text: 'Pay 7' });
    await fake.reached('sendMessage');
    expect(texts(fake)[0]).toContain('Waiting for a release of pay');
    const decision = { decision: 'approve', approver: 'Bob', approver_email: 'bob@example.com' };
    await agent.as(agent.token).post('/tasks/telegram.7/decisions', decision);
    await fake.reached('sendMessage', 2);
    expect(texts(fake)[1]).toContain('paid: ');
    await until(() => marks(fake).length >= 4);
    expect(marks(fake).map(([, emoji]) => emoji)).toEqual(['👀', '✍', '👀', '👍']);
  });

  it('ignores strangers', async () => {
    const { fake, agent } = await startBot({}, { allowed_users: ['@bob'] });
    fake.say({ text: 'Pay 7' });
    await fake.reached('sendMessage');
    expect(texts(fake)).toEqual([
      'You are not on the list of users of this agent. Your Telegram id is 7; send it to the operator of the agent.',
    ]);
    expect((await agent.as(agent.token).get('/tasks')).body).toEqual({ tasks: [] });
  });

  it('answers once, although Telegram sends the message again after a restart', async () => {
    const { fake, agent, start } = await startBot();
    fake.say({ text: 'one' });
    await fake.reached('setMessageReaction', 2);
    await agent.stop();
    fake.repeat();
    fake.say({ text: 'two' });
    const again = await start();
    await fake.reached('sendMessage', 2);
    expect(texts(fake)).toEqual(['echo: one', 'echo: two']);
    expectKept(again);
  });

  it('keeps running when Telegram refuses its token, and reports it', async () => {
    const { fake, agent } = await startBot();
    await fake.reached('getUpdates');
    fake.fail('getUpdates', { status: 401 });
    fake.say({ text: 'hello' });
    const why =
      'telegram: could not read new messages: Telegram rejected the bot token; copy it from @BotFather again and restart the agent';
    await until(() => agent.log.some(({ message }) => message === why));
    expect((await agent.as(agent.token).get('/healthz')).status).toBe(200);
    expectKept(agent);
  });
});
