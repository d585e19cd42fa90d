import { describe, expect, it } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import {
  deferring,
  expectIntact,
  startInFolder,
  startTestAgent,
  story,
  type TestAgent,
  textOf,
} from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5, to: 'Maja' } }, { say: 'done: {result}' }];
const args = { amount: 5, to: 'Maja' };
// SHA-256 of {"args":{"amount":5,"to":"Maja"},"tool":"pay"}, taken with another tool.
const digest = '71c47847d0db3a97703b1c183166b88219a5c14d20251aa8ec8e15c969c7266d';

/** How a held task is sent over each transport, and what comes back of it. */
const transports = [
  ['REST', async (agent: TestAgent) => (await agent.send('t1', script)).body],
  [
    'JSON-RPC',
    async (agent: TestAgent) => {
      const answer = await agent.rpc('tasks/send', { id: 't1', message: playing(script) }, 'r-1');
      expect(answer).toMatchObject({ status: 200, body: { jsonrpc: '2.0', id: 'r-1' } });
      return answer.body.result;
    },
  ],
  [
    'SSE',
    async (agent: TestAgent) => {
      const events = await (await agent.subscribe('t1', script)).rest();
      expect(events.at(-1)?.event).toBe('result');
      return events.at(-1)?.data;
    },
  ],
  [
    'SSE over JSON-RPC',
    async (agent: TestAgent) => {
      const params = { id: 't1', message: playing(script) };
      const body = { jsonrpc: '2.0', id: 1, method: 'tasks/sendSubscribe', params };
      return (await (await agent.stream('/', { body })).rest()).at(-1)?.data;
    },
  ],
] as const;

const turn = [
  'llm_call',
  { provider: 'scripted', model: 'demo', input_tokens: 0, output_tokens: 0 },
];
const deferredLine = (timeout_ms = 300_000) => [
  'task_deferred',
  {
    tool: 'pay',
    to: 'channel:console:desk',
    timeout_ms,
    context: 'tool=pay args={"amount":5,"to":"Maja"}',
  },
];
const ran = [
  ['tool_exec', { tool: 'pay', phase: 'start' }],
  ['tool_exec', { tool: 'pay', phase: 'end', outcome: 'succeeded' }],
];

it('a held task shows its title in lists, alone and in events, also after a restart', async () => {
  const agent = await startTestAgent(deferring({}, { on_restart: 'resume' }));
  const events = await agent.stream('/events');
  const { parts } = playing(script) as { parts: object[] };
  const text = `please\n pay ${'x'.repeat(200)}`;
  const message = { role: 'user', parts: [{ kind: 'text', text }, ...parts], messageId: 'm1' };
  const sent = agent.post('/tasks/send', { task: { id: 't1', message } }).catch(() => undefined);
  const { metadata } = await agent.reached('t1', 'deferred');
  const title = `please pay ${'x'.repeat(108)}…`;
  const titles = async (one: TestAgent) => {
    const lists = [await one.get('/deferrals'), await one.get('/deferrals?order=deadline')];
    const alone = await one.get(`/deferrals/${metadata.deferral.id}`);
    return [...lists.map(({ body }) => body.deferrals[0].title), alone.body.title];
  };
  expect(await titles(agent)).toEqual([title, title, title]);
  let event = await events.next();
  while (event !== undefined && event.event !== 'deferral') event = await events.next();
  expect(event?.data.title).toBe(title);
  expect((await agent.get('/tasks/t1')).body).not.toHaveProperty('title');
  events.leave();
  await agent.stop();
  await sent;
  const again = await startInFolder(agent.folder);
  expect(await titles(again)).toEqual([title, title, title]);
});

describe.each(transports)('a held call, sent over %s,', (_, send) => {
  it('waits, is shown to approvers, and runs as approved', async () => {
    const agent = await startTestAgent(deferring());
    const held = send(agent);
    const waiting = await agent.reached('t1', 'deferred');
    expect(textOf({ body: waiting })).toBe(
      'Deferred: awaiting channel:console:desk decision on pay',
    );
    const { deferral } = waiting.metadata;
    expect(deferral).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tool: 'pay',
      to: 'channel:console:desk',
      context: 'tool=pay args={"amount":5,"to":"Maja"}',
      requested_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      expires_at: new Date(Date.parse(deferral.requested_at) + 300_000).toISOString(),
      args_sha256: digest,
      runs_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const shown = {
      id: deferral.id,
      deferral_id: deferral.id,
      task_id: 't1',
      title: '',
      tool: 'pay',
      to: 'channel:console:desk',
      timeout: '5m0s',
      context: deferral.context,
      args,
      args_sha256: deferral.args_sha256,
      runs_sha256: deferral.runs_sha256,
      requester: null,
      requested_at: deferral.requested_at,
      expires_at: deferral.expires_at,
      approvers: null,
      quorum: 1,
      approvals: [],
    };
    expect((await agent.get('/deferrals')).body).toEqual({ deferrals: [shown], total: 1 });
    expect((await agent.get(`/deferrals/${deferral.id}`)).body).toEqual(shown);
    expect(agent.folder.paid).toEqual([]);

    expect(await agent.decide('t1', { decision: 'approve', approver: 'ann' })).toMatchObject({
      status: 200,
      body: {
        task_id: 't1',
        deferral_id: deferral.id,
        decision: 'approve',
        approver: 'ann',
        status: 'resolved',
      },
    });
    const done = await held;
    expect(done.status.state).toBe('completed');
    expect(done.artifacts).toEqual([
      {
        artifactId: 't1:response',
        name: 'response',
        parts: [{ kind: 'text', text: `done: ${JSON.stringify(args)}` }],
      },
    ]);
    expect(done.metadata).toBeUndefined();
    expect(agent.folder.paid).toEqual([deferral.id]);
    expect((await agent.get('/deferrals')).body).toEqual({ deferrals: [], total: 0 });
    expect((await agent.get(`/deferrals/${deferral.id}`)).status).toBe(404);
    expect(story(agent.audit('t1'))).toEqual([
      ['session_start'],
      turn,
      deferredLine(),
      [
        'task_deferred_decision',
        { tool: 'pay', decision: 'approve', approver: 'ann', note: '', vouched_by: 'asserted' },
      ],
      ...ran,
      turn,
      ['session_end', { state: 'completed' }],
    ]);
    await expectIntact(agent.auditPath);
  });
});

describe('a held call', () => {
  it('fails with the text of a rejection, and never runs', async () => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    const note = 'too much,\nask "Bo" ⚖';
    const reject = { decision: 'reject', approver: 'ann@example.com', note: ` ${note} ` };
    expect(await agent.decide('t1', reject)).toMatchObject({
      status: 200,
      body: { decision: 'reject', approver: 'ann@example.com', status: 'resolved' },
    });
    const { body: failed } = await held;
    expect(failed.status.state).toBe('failed');
    expect(textOf({ body: failed })).toBe(`defer: rejected by ann@example.com: ${note}`);
    expect(agent.folder.paid).toEqual([]);
    expect(story(agent.audit('t1'))).toEqual([
      ['session_start'],
      turn,
      deferredLine(),
      [
        'task_deferred_decision',
        {
          tool: 'pay',
          decision: 'reject',
          approver: 'ann@example.com',
          note,
          vouched_by: 'asserted',
        },
      ],
      ['session_end', { state: 'failed' }],
    ]);
    await expectIntact(agent.auditPath);
  });

  it('is denied on a timeout, and no later decision counts', async () => {
    const agent = await startTestAgent(deferring({ timeout: '150ms' }));
    const { body: failed } = await agent.send('t1', script);
    expect(failed.status.state).toBe('failed');
    expect(textOf({ body: failed })).toBe('defer: no decision within 150ms (auto-deny)');
    expect(await agent.decide('t1', { decision: 'approve' })).toMatchObject({
      status: 404,
      body: { error: 'no pending deferral for task', code: 'deferral_not_found' },
    });
    expect(agent.folder.paid).toEqual([]);
    const lines = agent.audit('t1');
    expect(story(lines)).toEqual([
      ['session_start'],
      turn,
      deferredLine(150),
      ['task_deferred_timeout', { tool: 'pay', timeout_ms: 150 }],
      ['session_end', { state: 'failed' }],
    ]);
    expect(lines[4]?.fields?.['wait_ms']).toBeGreaterThanOrEqual(150);
    await expectIntact(agent.auditPath);
  });

  it('ends with a cancel, and no later decision counts', async () => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    const canceled = await agent.post('/tasks/t1/cancel', { reason: 'cost_limit_exceeded' });
    expect(canceled.status).toBe(200);
    expect(canceled.body.status.state).toBe('canceled');
    expect(textOf(canceled)).toBe('canceled: cost_limit_exceeded');
    expect((await held).body).toEqual(canceled.body);
    expect(await agent.decide('t1', { decision: 'approve' })).toMatchObject({ status: 404 });
    expect((await agent.post('/tasks/t1/cancel')).body).toEqual(canceled.body);
    expect(agent.folder.paid).toEqual([]);
    expect(story(agent.audit('t1'))).toEqual([
      ['session_start'],
      turn,
      deferredLine(),
      ['task_deferred_abandoned', { tool: 'pay', reason: 'canceled' }],
      ['invocation_cancelled', { reason: 'cost_limit_exceeded' }],
      ['session_end', { state: 'canceled' }],
    ]);
    await expectIntact(agent.auditPath);
  });
});

describe('the text of a rejection', () => {
  it.each([
    [{}, 'defer: rejected by unknown'],
    [
      { approver: ' ', approver_email: 'ann@example.com', note: '' },
      'defer: rejected by ann@example.com',
    ],
    [{ approver: null, note: null }, 'defer: rejected by unknown'],
  ])('for %j is %s', async (said, text) => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    expect((await agent.decide('t1', { decision: 'reject', ...said })).status).toBe(200);
    expect(textOf(await held)).toBe(text);
  });
});

describe('a cancel', () => {
  it.each([
    [undefined, 'external_signal'],
    [{}, 'external_signal'],
    [{ reason: 'workflow_failure' }, 'workflow_failure'],
    [{ reason: '💥'.repeat(300) }, '💥'.repeat(256)],
  ])('with %j contains its reason', async (body, reason) => {
    const agent = await startTestAgent(deferring());
    const held = agent.send('t1', script);
    await agent.reached('t1', 'deferred');
    expect((await agent.post('/tasks/t1/cancel', { reason: 7 })).status).toBe(400);
    expect(textOf(await agent.post('/tasks/t1/cancel', body))).toBe(`canceled: ${reason}`);
    expect(textOf(await held)).toBe(`canceled: ${reason}`);
  });

  it('aborts a running tool, and the audit log records it', async () => {
    const agent = await startTestAgent();
    const held = agent.send('t1', [{ tool: 'hold' }, { say: 'never' }]);
    await expect.poll(() => agent.folder.held.length, { timeout: 5_000 }).toBe(1);
    expect(
      textOf(
        await agent
          .rpc('tasks/cancel', { id: 't1', reason: 'timeout' })
          .then(({ body }) => ({ body: body.result })),
      ),
    ).toBe('canceled: timeout');
    expect((await held).body.status.state).toBe('canceled');
    expect(story(agent.audit('t1'))).toEqual([
      ['session_start'],
      turn,
      ['tool_exec', { tool: 'hold', phase: 'start' }],
      ['tool_exec', { tool: 'hold', phase: 'end', outcome: 'unknown', error: 'canceled: timeout' }],
      ['invocation_cancelled', { reason: 'timeout' }],
      ['session_end', { state: 'canceled' }],
    ]);
  });
});
