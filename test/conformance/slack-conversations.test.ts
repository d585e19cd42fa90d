import { describe, expect, it } from 'vitest';
import { type SlackAgent, startSlackAgent, wordsOf } from '../helpers/slack-agent.ts';

/** An agent that pays on any message, and says so. */
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
  it('becomes a task of its thread, and the answer goes there without pinging anybody', async () => {
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

  it('that needs a release says so, and the answer comes after it', async () => {
    const chat = await startSlackAgent({ settings: paying });
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    const held = await answered(chat, 'general', ts, /release/i);
    expect(held).toHaveLength(1);
    const [asking] = await chat.shows(/Asked by: bob@example\.com/);
    expect(asking).toBeDefined();
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'ann' });
    expect(await answered(chat, 'general', ts, /paid/)).toHaveLength(2);
  });

  it('cannot be released by whoever said it, where four eyes are asked for', async () => {
    const chat = await startSlackAgent({ settings: paying, rule: { four_eyes: true } });
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    await chat.slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    await chat.whispers(/may not/i);
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

  it('is told when a restart gave its task up', async () => {
    const chat = await startSlackAgent({ settings: paying });
    const { ts } = await said(chat, 'pay please');
    await chat.shows(/\[Approve\]/);
    await chat.agent.stop();
    await chat.start();
    await answered(chat, 'general', ts, /restart/);
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
