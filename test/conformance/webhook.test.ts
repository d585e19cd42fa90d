import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type RawPost, RawReceiver } from '../actors/channels/webhook/raw-receiver.ts';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { readLog } from '../helpers/kept-log.ts';
import { startInFolder, type TestAgent } from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid {result}' }];
const key = Buffer.from('canary-secret-of-32-bytes-012345').toString('base64');
const secret = `whsec_${key}`;
const env = { OPS_WEBHOOK_SECRET: secret };

let receiver: RawReceiver;

beforeEach(async () => {
  receiver = await RawReceiver.open();
});

/** An agent whose calls wait for the reader of the test's receiver at `/ops`, or at `/boss`. */
async function anAgent(rules: Record<string, object> = { pay: {} }): Promise<TestAgent> {
  const to = { to: 'channel:webhook:ops', timeout: '5m' };
  const tools = Object.fromEntries(
    Object.entries(rules).map(([tool, rule]) => [tool, { ...to, ...rule }]),
  );
  const settings = { channels: ['webhook'], security: { defer: { enabled: true, tools } } };
  const folder = new AgentFolder(settings as ServiceSettings);
  onTestFinished(() => folder.remove());
  const target = (name: string) => ({
    url: `http://127.0.0.1:${receiver.port}/${name}?key=canary-key`,
    secret_env: 'OPS_WEBHOOK_SECRET',
  });
  const targets = { ops: target('ops'), boss: target('boss') };
  writeFileSync(
    join(folder.path, 'webhook-config.yaml'),
    JSON.stringify({ adapter: 'webhook', settings: { targets } }),
  );
  return startInFolder(folder, env);
}

/** Resolves with the posts to a target, once there are so many; every signature is checked. */
async function told(count: number, path = '/ops'): Promise<any[]> {
  const posts = () => receiver.posts.filter((post) => post.path?.startsWith(path));
  await vi.waitUntil(() => posts().length >= count, { timeout: 15_000, interval: 5 });
  return posts().map(eventOf);
}

function eventOf({ body, headers }: RawPost): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);

/** Decides as a bridge does, which knows the token and what was posted. */
async function clicked(agent: TestAgent, { data }: any, decision: object) {
  const response = await fetch(data.decision_url, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      deferral_id: data.deferral_id,
      args_sha256: data.args_sha256,
      ...decision,
    }),
  });
  return { status: response.status, body: await response.json() };
}

describe('a call that is held for a webhook', () => {
  it('is posted, released by the receiver, and its outcome is posted', async () => {
    const agent = await anAgent();
    const held = agent.send('t1', script);
    const [asked] = await told(1);
    const { deferral } = (await agent.reached('t1', 'deferred')).metadata;
    expect(asked).toEqual({
      type: 'approval.requested',
      timestamp: deferral.requested_at,
      data: {
        agent_id: 'till',
        task_id: 't1',
        deferral_id: deferral.id,
        tool: 'pay',
        context: deferral.context,
        args: { amount: 5 },
        args_sha256: deferral.args_sha256,
        requester: null,
        target: 'channel:webhook:ops',
        approvers: null,
        quorum: 1,
        approvals: [],
        requested_at: deferral.requested_at,
        expires_at: deferral.expires_at,
        decision_url: `${agent.url}/tasks/t1/decisions`,
        approval_url: null,
      },
    });
    const other = { decision: 'approve', args_sha256: '0'.repeat(64) };
    expect((await clicked(agent, asked, other)).status).toBe(409);
    const decision = { decision: 'approve', approver: 'ann', note: 'checked' };
    expect(await clicked(agent, asked, decision)).toMatchObject({
      status: 200,
      body: { status: 'resolved', approver: 'ann' },
    });
    expect((await held).body.status.state).toBe('completed');
    const [, ended] = await told(2);
    expect(ended).toEqual({
      type: 'approval.approved',
      timestamp: ended.data.outcome.at,
      data: {
        ...asked.data,
        outcome: {
          kind: 'approved',
          approver: 'ann',
          note: 'checked',
          at: expect.stringMatching(/Z$/),
        },
      },
    });
    const [, , finished] = await told(3);
    expect(finished).toEqual({
      ...ended,
      type: 'approval.finished',
      data: { ...ended.data, outcome: { ...ended.data.outcome, outcome: 'ran' } },
    });
    expect((await clicked(agent, asked, decision)).status).toBe(409);
    expect(agent.folder.paid).toEqual([deferral.id]);
  });

  it('has every kind of end posted', async () => {
    const agent = await anAgent({ pay: {}, grant: { timeout: '1s' } });
    void agent.send('rejected', script);
    await agent.reached('rejected', 'deferred');
    await agent.decide('rejected', { decision: 'reject', approver: 'bob', note: 'no' });
    void agent.send('canceled', script);
    await agent.reached('canceled', 'deferred');
    await agent.post('/tasks/canceled/cancel', { reason: 'cost_limit_exceeded' });
    await agent.send('expired', [{ tool: 'grant', args: {} }]);
    const events = await told(6);
    const ends = events.filter(({ data }) => data.outcome !== undefined);
    expect(ends.map(({ type, data: { task_id, outcome } }) => [task_id, type, outcome])).toEqual([
      [
        'rejected',
        'approval.rejected',
        { kind: 'rejected', approver: 'bob', note: 'no', at: expect.any(String) },
      ],
      [
        'canceled',
        'approval.canceled',
        { kind: 'canceled', reason: 'cost_limit_exceeded', at: expect.any(String) },
      ],
      ['expired', 'approval.timed_out', { kind: 'timed_out', at: expect.any(String) }],
    ]);
  });

  it('has its end posted after a restart that abandoned it', async () => {
    const first = await anAgent();
    first.send('t1', script).catch(() => undefined);
    await told(1);
    await first.stop();
    const second = await startInFolder(first.folder, env);
    const [asked, ended] = await told(2);
    expect([second.url === first.url, ended.type, ended.data.outcome]).toEqual([
      false,
      'approval.abandoned',
      { kind: 'abandoned', reason: 'service_restart', at: expect.any(String) },
    ]);
    expect(ended.data.deferral_id).toBe(asked.data.deferral_id);
  });

  it('counts approvals, reminds and escalates', async () => {
    const escalate_to = 'channel:webhook:boss';
    const approvers = ['ann@example.com', 'bo@example.com'];
    const rule = { timeout: '4s', quorum: 2, approvers, remind: true, escalate_to };
    const agent = await anAgent({ pay: rule });
    void agent.send('t1', script);
    const [asked] = await told(1);
    await clicked(agent, asked, { decision: 'approve', approver_email: 'ann@example.com' });
    const [escalated] = await told(1, '/boss');
    const { approvals, quorum, target } = escalated.data;
    expect({ approvals, quorum, target }).toEqual({
      approvals: [{ approver: 'ann@example.com', at: expect.any(String) }],
      quorum: 2,
      target: 'channel:webhook:boss',
    });
    expect(typesOf(await told(2, '/boss'))).toEqual(['approval.escalated', 'approval.timed_out']);
    expect(typesOf(await told(5))).toEqual([
      'approval.requested',
      'approval.counted',
      'approval.reminded',
      'approval.escalated',
      'approval.timed_out',
    ]);
  });
});

describe('a failing receiver', () => {
  it('is called again under the same id, while the call keeps waiting', async () => {
    receiver.answers.push({ status: 503 }, 'reset');
    const agent = await anAgent();
    void agent.send('t1', script);
    const events = await told(3);
    expect(new Set(receiver.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(typesOf(events)).toEqual(Array(3).fill('approval.requested'));
    expect((await agent.get('/tasks/t1')).body.status.state).toBe('deferred');
    expect(agent.folder.paid).toEqual([]);
  });

  it('delays no other call with one refusal, nor with six', async () => {
    const agent = await anAgent({ pay: { timeout: '40s' } });
    receiver.answerTo = ({ body }) => (body.includes('"task_id":"bad') ? { status: 400 } : null);
    for (const id of ['bad0', 'bad1', 'bad2', 'bad3', 'bad4', 'bad5']) void agent.send(id, script);
    await vi.waitUntil(() => receiver.posts.length >= 2, { timeout: 15_000, interval: 5 });
    const began = performance.now();
    void agent.send('good', script);
    const isGood = ({ body }: RawPost) => body.includes('"task_id":"good"');
    await vi.waitUntil(() => receiver.posts.some(isGood), { timeout: 20_000, interval: 5 });
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it('releases nothing and prevents no decision', async () => {
    receiver.answers.push(...Array(20).fill({ status: 404 }));
    const agent = await anAgent({ pay: {}, grant: { timeout: '1s' } });
    const late = await agent.send('late', [{ tool: 'grant', args: {} }]);
    expect([late.body.status.state, agent.folder.paid]).toEqual(['failed', []]);
    void agent.send('early', script);
    await agent.reached('early', 'deferred');
    expect((await agent.decide('early', { decision: 'approve' })).status).toBe(200);
  });
});

it('neither secret nor URL is shown, and each post is an event of its task', async () => {
  receiver.answers.push({ status: 500 }, { status: 404 });
  const agent = await anAgent({ pay: { timeout: '3s' } });
  const { body } = await agent.send('t1', script);
  await vi.waitUntil(() => agent.log.length > 0, { timeout: 5_000 });
  const seen = [body, agent.log, readLog(agent.auditPath)];
  expect(JSON.stringify(seen)).not.toMatch(/canary|whsec/);
  expect(JSON.stringify(seen)).not.toContain(key);
  const sent = agent.audit('t1').filter(({ event }) => event.startsWith('egress'));
  expect(sent.map(({ event, fields }) => [event, fields])).toContainEqual([
    'egress_allowed',
    { domain: '127.0.0.1', mode: 'allowlist' },
  ]);
});
