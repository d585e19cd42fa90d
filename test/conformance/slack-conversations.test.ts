import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import { type SlackAgent, startSlackAgent, wordsOf } from '../helpers/slack-agent.ts';

/** An agent that pays on any message, and reports it. */
const paying = {
  model: { script: [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }] },
};
const talking = { model: { script: [{ say: 'hello <!channel>, **well** done' }] } };

/** The words in the thread of a message, without the message itself. */
function thread({ slack }: SlackAgent, channel: string, ts: string): string[] {
  return slack
    .messages(channel)
    .filter((message) => message.threadTs === ts && message.ts !== ts)
    .map(wordsOf);
}

function answered(chat: SlackAgent, channel: string, ts: string, words: RegExp): Promise<string[]> {
  return chat.slack.until(() => {
    const said = thread(chat, channel, ts);
    return said.some((each) => words.test(each)) ? said : undefined;
  });
}

/** Says something and returns what Slack keeps of it. */
async function said(chat: SlackAgent, text: string, user = 'bob') {
  await chat.slack.connected();
  await chat.slack.mention({ channel: 'general', user, text });
  const message = chat.slack.messages('general').find((each) => each.text.includes(text));
  if (message === undefined) throw new Error('nothing was said');
  return message;
}

describe('a mention', () => {
  it('becomes a task of its thread, and the answer is posted there without a mention', async () => {
    const chat = await startSlackAgent({ settings: talking });
    const { ts } = await said(chat, 'say hello');
    expect(await answered(chat, 'general', ts, /hello/)).toEqual([
      expect.stringMatching(/^hello &lt;!channel&gt;, \u200b?\*well\*\u200b? done$/),
    ]);
    const { tasks } = (await chat.agent.get('/tasks')).body;
    expect(tasks).toHaveLength(1);
    expect(tasks[0].contextId).toBe(tasks[0].id);
    expect(tasks[0].contextId).toMatch(/^slack[.]/);
    const started = chat.agent.audit(tasks[0].id).find(({ event }) => event === 'session_start');
    expect(started).toMatchObject({ invocation_caller: 'slack:T0HOLDPNT1/U0BOB00001' });
  });

  it('that needs an approval reports that, and the answer follows it', async () => {
    const chat = await startSlackAgent({ settings: paying });
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    const held = await answered(chat, 'general', ts, /release/i);
    expect(held).toHaveLength(1);
    const [asking] = await chat.shows(/Requested by: bob@example\.com/);
    expect(asking).toBeDefined();
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    expect(await answered(chat, 'general', ts, /paid/)).toHaveLength(2);
  });

  it('cannot be released by its author, where four eyes are required', async () => {
    const chat = await startSlackAgent({ settings: paying, rule: { four_eyes: true } });
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    await chat.whispers(/may not|not allowed/i);
    expect(thread(chat, 'general', ts).join()).not.toContain('paid');
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await answered(chat, 'general', ts, /paid/);
  });

  it('is answered once, however often Slack delivers it', async () => {
    const chat = await startSlackAgent({ settings: talking });
    await chat.slack.connected();
    chat.slack.socket.spoil('double', 1);
    const { ts } = await said(chat, 'say hello');
    await answered(chat, 'general', ts, /hello/);
    const again = await said(chat, 'and once more', 'ann');
    await answered(chat, 'general', again.ts, /hello/);
    expect(thread(chat, 'general', ts)).toHaveLength(1);
    expect((await chat.agent.get('/tasks')).body.tasks).toHaveLength(2);
  });

  it('gets its answer after a restart in the middle', async () => {
    const chat = await startSlackAgent({ settings: paying, defer: { on_restart: 'resume' } });
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    await chat.agent.stop();
    await chat.start();
    await chat.slack.connected();
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await answered(chat, 'general', ts, /paid/);
  });

  it('is answered when a restart abandoned its task', async () => {
    const chat = await startSlackAgent({ settings: paying });
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    await chat.agent.stop();
    await chat.start();
    await answered(chat, 'general', ts, /restart/);
  });
});

describe('the credential of a conversation', () => {
  const signedIn = {
    ...paying,
    auth: {
      required: true,
      providers: [{ type: 'static_token', name: 'ops', settings: { token: 'token-of-ops-1' } }],
    },
  };

  it('represents people in the chat, decides nothing, and is stored nowhere', async () => {
    const shown = new Set<string>();
    const look = (message: unknown) => {
      const { request } = message as { request: IncomingMessage };
      const { authorization = '', ['x-service-on-behalf-of']: behalf } = request.headers;
      if (behalf !== undefined) shown.add(authorization.replace('Bearer ', ''));
    };
    subscribe('http.server.request.start', look);
    onTestFinished(() => void unsubscribe('http.server.request.start', look));
    const chat = await startSlackAgent({ settings: signedIn });
    const { agent, folder } = chat;
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    const [token = '', ...others] = shown;
    expect([token.length, others]).toEqual([43, []]);
    expect(token).not.toBe(agent.token);

    const operator = agent.as(agent.token);
    const { id, requester } = (await operator.get('/deferrals')).body.deferrals[0];
    expect(requester).toEqual({
      provider: 'chat',
      user_id: 'slack:T0HOLDPNT1/U0BOB00001',
      email: 'bob@example.com',
    });
    const { task_id: taskId } = (await operator.get(`/deferrals/${id}`)).body;
    for (const decision of ['approve', 'reject']) {
      const body = { decision, approver_email: 'ann@example.com' };
      const headers = { 'x-service-on-behalf-of': 'slack:T0HOLDPNT1/U0ANN00001 ann@example.com' };
      const path = `/tasks/${taskId}/decisions`;
      expect((await agent.as(token).request('POST', path, { body, headers })).status).toBe(403);
    }
    const files = readdirSync(folder.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(token));
    expect([files, JSON.stringify(agent.log).includes(token)]).toEqual([[], false]);

    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    await answered(chat, 'general', ts, /paid/);
  });

  it("differs from the daemon's token in its folder, which represents no one", async () => {
    const chat = await startSlackAgent({ settings: signedIn });
    const operator = chat.agent.as(chat.agent.token);
    const headers = { 'x-service-on-behalf-of': 'slack:T0HOLDPNT1/U0BOB00001 bob@example.com' };
    const body = { task: { id: 't1', message: playing([{ tool: 'pay' }, { say: 'paid' }]) } };
    const sent = operator.request('POST', '/tasks/send', { body, headers });
    await chat.shows(/\[Approve\]/);
    expect((await operator.get('/deferrals')).body.deferrals[0].requester).toEqual({
      provider: 'runtime',
      user_id: 'runtime',
      email: null,
    });
    await operator.post('/tasks/t1/cancel');
    await sent;
  });
});

describe('a direct message', () => {
  it('is answered in its thread', async () => {
    const chat = await startSlackAgent({ settings: talking });
    await chat.slack.connected();
    await chat.slack.directMessage({ user: 'ann', text: 'hi there' });
    const asked = chat.slack.workspace.messages.find(({ text }) => text.includes('hi there'));
    if (asked === undefined) throw new Error('nothing was said');
    const { channel, ts } = asked;
    expect(await answered(chat, channel, ts, /hello/)).toHaveLength(1);
  });
});
