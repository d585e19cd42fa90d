import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeSlack } from '../../../../packages/fake-slack/fake-slack.ts';
import { AgentSurface } from '../../../../src/actors/channels/conversations/agent-surface.ts';
import { Conversations } from '../../../../src/actors/channels/conversations/conversations.ts';
import { createSlackAdapter } from '../../../../src/actors/channels/slack/slack-adapter.ts';
import { createOwnFetch } from '../../../../src/actors/outbound/egress/egress.ts';
import { systemClock } from '../../../../src/actors/system-clock.ts';
import type { ServiceSettings } from '../../../helpers/agent-folder.ts';
import { prompt } from '../../../helpers/patient.ts';
import { deferring, startTestAgent } from '../../../helpers/test-agent.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';
import { anEgress } from '../../outbound/egress/an-egress.ts';

/** An agent that people talk to in a fake Slack, connected. */
async function openOffice(settings: ServiceSettings = {}) {
  const agent = await startTestAgent(settings);
  const slack = await FakeSlack.start({ ackWithin: 10_000 });
  const store = await openStore(temporaryFolder());
  const own = createOwnFetch(new URL(agent.url));
  const { egress, records } = anEgress({ endpoints: [endpointOf(slack)] });
  const clock = systemClock();
  const logged: [string, object][] = [];
  const note = (fields: object, message: string) => void logged.push([message, fields]);
  const log = { info: note, warn: note, error: note };
  const conversations = new Conversations({
    surface: new AgentSurface({ url: agent.url, token: agent.token, fetch: own.fetch }),
    ports: (name) => (name === 'slack' ? adapter.conversation : undefined),
    rows: store.conversations,
    outbound: egress,
    clock,
    log,
  });
  const adapter = createSlackAdapter({
    settings: {
      botToken: slack.botToken,
      appToken: slack.appToken,
      apiUrl: slack.apiUrl,
      dashboardUrl: null,
      conversations: true,
    },
    outbound: egress,
    approvals: { find: async () => [], decide: () => Promise.reject(new Error('nothing waits')) },
    conversations,
    clock,
    log,
  });
  onTestFinished(async () => {
    await conversations.stop();
    await adapter.stop();
    await slack.close();
    await own.close();
    await egress.close();
    await store.close();
  });
  adapter.start(() => undefined);
  await slack.connected();
  return { agent, slack, conversations, records, logged };
}

function endpointOf({ apiUrl }: FakeSlack) {
  const { hostname, port } = new URL(apiUrl);
  return { host: hostname, port: Number(port), source: 'channels.slack', mayBePrivate: true };
}

/** Resolves with what the bot said in a channel once a string of it matches. */
async function answered(slack: FakeSlack, channel: string, words: RegExp) {
  const said = () =>
    slack.messages(channel).filter(({ user }) => user === slack.workspace.botUserId);
  await slack.until(() => said().find(({ text }) => words.test(text)));
  return said().map(({ text, threadTs }) => [text, threadTs]);
}

/** What Ann said to the bot last. */
const asked = (slack: FakeSlack, channel: string) =>
  slack.messages(channel).findLast(({ user }) => user === 'U0ANN00001')!;

const holding: ServiceSettings = {
  ...deferring({ to: 'channel:slack:refunds' }),
  model: { script: [{ tool: 'pay', args: { amount: 7 } }, { say: 'paid: {result}' }] },
};

describe('the agent in Slack', () => {
  it('answers a mention in its thread, marks it, and acts for its author', async () => {
    const { agent, slack, records } = await openOffice();
    await slack.mention({ channel: 'general', text: 'hello &amp; <!channel>' });
    const said = await answered(slack, 'general', /echo/);
    const { ts, channel } = asked(slack, 'general');
    expect(said).toEqual([['echo: hello &amp; @channel', ts]]);
    await slack.until(() =>
      asked(slack, 'general').reactions.find((mark) => mark === 'white_check_mark'),
    );
    const taskId = `slack.${slack.workspace.teamId}.${channel}.${ts}`;
    expect({
      callers: [...new Set(agent.audit(taskId).map((line) => line['invocation_caller']))],
      scopes: new Set(records.map(({ scope }) => scope?.taskId ?? null)),
    }).toEqual({
      callers: [`slack:${slack.workspace.teamId}/U0ANN00001`],
      scopes: new Set([null, taskId]),
    });
  });

  it('continues a direct message in its thread', async () => {
    const { agent, slack } = await openOffice();
    await slack.directMessage({ text: 'one' });
    const { channel, ts } = slack.workspace.messages[0]!;
    await answered(slack, channel, /echo: one/);
    await slack.directMessage({ text: 'two', thread_ts: ts });
    expect(await answered(slack, channel, /echo: two/)).toEqual([
      ['echo: one', ts],
      ['echo: two', ts],
    ]);
    const { body } = await agent.get(`/tasks/slack.${slack.workspace.teamId}.${channel}.${ts}`);
    expect(body.history).toHaveLength(4);
  });

  it('answers a repeated delivery once, and ignores its own messages', async () => {
    const { slack, logged } = await openOffice();
    const { botUserId, teamId } = slack.workspace;
    await slack.mention({ channel: 'general', text: 'hello' });
    await answered(slack, 'general', /echo: hello/);
    const { ts, channel } = asked(slack, 'general');
    const again = { type: 'app_mention', channel, ts, team: teamId, text: `<@${botUserId}> hello` };
    await slack.events({ ...again, user: 'U0ANN00001' });
    await slack.events({ ...again, user: botUserId, ts: '1780000000.000100' });
    await slack.mention({ channel: 'general', text: 'bye' });
    const said = await answered(slack, 'general', /echo: bye/);
    const complaints = logged.filter(([message]) => message.startsWith('conversation'));
    expect([said.map(([text]) => text), complaints]).toEqual([['echo: hello', 'echo: bye'], []]);
  });

  it('reports that a call waits, and posts the answer after the release', async () => {
    const { agent, slack } = await openOffice({
      ...deferring({ to: 'channel:slack:refunds' }),
      model: { script: [{ tool: 'pay', args: { amount: 7 } }, { say: 'paid: {result}' }] },
    });
    await slack.mention({ channel: 'general', text: 'refund 7' });
    await answered(slack, 'general', /Waiting for a release/);
    const { ts, channel } = asked(slack, 'general');
    expect(asked(slack, 'general').reactions).toEqual(['raised_hand']);
    await agent.decide(`slack.${slack.workspace.teamId}.${channel}.${ts}`, {
      decision: 'approve',
      approver: 'Bob',
    });
    expect(await answered(slack, 'general', /paid/)).toEqual([
      ['Waiting for a release of pay by #refunds.', ts],
      ['paid: {"amount":7}', ts],
    ]);
  });

  it('shows the approvers the messages that arrive while a call waits, and says that in the thread', async () => {
    const { agent, slack } = await openOffice(holding);
    await slack.mention({ channel: 'general', text: 'refund 7' });
    await answered(slack, 'general', /Waiting/);
    const { ts, channel } = asked(slack, 'general');
    await slack.mention({ channel: 'general', text: 'stop, wrong address', thread_ts: ts });
    await answered(slack, 'general', /Still waiting/);
    const taskId = `slack.${slack.workspace.teamId}.${channel}.${ts}`;
    const { body } = await agent.get('/deferrals');
    expect(body.deferrals).toMatchObject([
      { task_id: taskId, messages: [{ text: 'stop, wrong address' }] },
    ]);
    await agent.decide(taskId, { decision: 'approve' });
    expect(await answered(slack, 'general', /paid/)).toEqual([
      ['Waiting for a release of pay by #refunds.', ts],
      [
        expect.stringMatching(
          /^Still waiting for a release of pay by #refunds\. Your message is shown to the approvers, and I read it after the decision\. The requester can write .*cancel.* to call it off\.$/,
        ),
        ts,
      ],
      [expect.stringMatching(/^paid: /), ts],
    ]);
  });

  it('cancels a waiting task for its requester only', async () => {
    const { agent, slack } = await openOffice(holding);
    await slack.mention({ channel: 'general', text: 'refund 7' });
    await answered(slack, 'general', /Waiting/);
    const { ts, channel } = asked(slack, 'general');
    await slack.mention({ channel: 'general', user: 'bob', text: 'cancel', thread_ts: ts });
    await answered(slack, 'general', /Still waiting/);
    await slack.mention({ channel: 'general', text: '*Cancel*', thread_ts: ts });
    await answered(slack, 'general', /Called off/);
    const taskId = `slack.${slack.workspace.teamId}.${channel}.${ts}`;
    expect((await agent.get(`/tasks/${taskId}`)).body.status.state).toBe('canceled');
  });

  it('uploads a long answer, and answers while uploads fail', async () => {
    const { slack } = await openOffice();
    slack.fail({ method: 'chat.postMessage', times: 2, fault: { kind: 'status', status: 502 } });
    slack.fail({ method: 'reactions.add', times: 2, fault: { kind: 'reset' } });
    await slack.mention({ channel: 'general', text: 'short' });
    await answered(slack, 'general', /echo: short/);
    await slack.mention({ channel: 'general', text: 'long '.repeat(1_500).trim() });
    await answered(slack, 'general', /The full answer is in the file/);
    const { files } = slack.messages('general').at(-1)!;
    await vi.waitUntil(() => files[0]?.content !== null, prompt);
    expect(files.map(({ name, content }) => [name, content])).toEqual([
      ['answer.md', expect.stringMatching(/^echo: (?:long ?)+/)],
    ]);
  });
});
