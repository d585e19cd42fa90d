import { readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { deferring, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

/** Those of the lines that count something. */
const counting = (lines: string[]) => lines.filter((line) => !line.endsWith(' 0'));

/** The lines of the metrics whose name begins like this, samples alone. */
async function linesOf(agent: TestAgent, beginning: RegExp): Promise<string[]> {
  const { body } = await agent.get('/metrics');
  return String(body)
    .split('\n')
    .filter((line) => beginning.test(line));
}

it('metrics count the tasks of each state, and the waiting ones', async () => {
  const agent = await startTestAgent(deferring());
  await agent.send('done', [{ say: 'hi' }]);
  await agent.send('broken', [{ tool: 'ghost' }]);
  const held = agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
  await agent.reached('held', 'deferred');
  const lines = () => linesOf(agent, /^holdpoint_(tasks|deferrals_pending|admission)/);
  expect(await lines()).toEqual([
    'holdpoint_admission_fallbacks_total 0',
    'holdpoint_deferrals_pending 1',
    'holdpoint_tasks{state="submitted"} 0',
    'holdpoint_tasks{state="working"} 0',
    'holdpoint_tasks{state="deferred"} 1',
    'holdpoint_tasks{state="completed"} 1',
    'holdpoint_tasks{state="failed"} 1',
    'holdpoint_tasks{state="canceled"} 0',
    'holdpoint_tasks_of_other_releases 0',
    'holdpoint_tasks_live 1',
  ]);
  await agent.decide('held', { decision: 'approve' });
  await held;
  expect(await lines()).toContain('holdpoint_tasks{state="completed"} 2');
});

it('metrics count the ended tool calls, also those before the first scrape', async () => {
  const agent = await startTestAgent();
  await agent.send('one', [{ tool: 'echo' }, { tool: 'break' }, { say: 'done' }]);
  const name = 'gen_ai_execute_tool_duration_seconds';
  const calls = () => linesOf(agent, new RegExp(`^${name}_count`));
  expect(await calls()).toEqual([
    `${name}_count{gen_ai_tool_name="echo"} 1`,
    `${name}_count{gen_ai_tool_name="break",error_type="exit code"} 1`,
  ]);
  await agent.send('two', [{ tool: 'echo' }, { say: 'done' }]);
  expect(await calls()).toEqual([
    `${name}_count{gen_ai_tool_name="echo"} 2`,
    `${name}_count{gen_ai_tool_name="break",error_type="exit code"} 1`,
  ]);
  const bounds = await linesOf(agent, new RegExp(`^${name}_bucket.*echo`));
  expect(bounds.map((line) => /le="([^"]+)"/.exec(line)?.[1])).toEqual([
    ...['0.01', '0.02', '0.04', '0.08', '0.16', '0.32', '0.64', '1.28', '2.56', '5.12'],
    ...['10.24', '20.48', '40.96', '81.92', '+Inf'],
  ]);
});

it('metrics report how long decisions took, each wait once, by its end', async () => {
  const agent = await startTestAgent(deferring({ timeout: '150ms' }));
  const counts = async () =>
    counting(await linesOf(agent, /^holdpoint_decision_latency_seconds_count/));
  const script = [{ tool: 'pay' }, { say: 'paid' }];
  await agent.send('late', script);
  expect(await counts()).toEqual([
    'holdpoint_decision_latency_seconds_count{decision="timeout",kind="task"} 1',
  ]);
  const [sum = ''] = counting(await linesOf(agent, /^holdpoint_decision_latency_seconds_sum/));
  expect(Number(sum.split(' ')[1])).toBeGreaterThanOrEqual(0.15);
});

it('metrics count a wait that two people ended as one approval', async () => {
  const agent = await startTestAgent(
    deferring({ quorum: 2, approvers: ['ada@example.com', 'bo@example.com'] }),
  );
  const script = [{ tool: 'pay' }, { say: 'paid' }];
  const counts = async () =>
    counting(await linesOf(agent, /^holdpoint_decision_latency_seconds_count/));
  const paid = agent.send('paid', script);
  await agent.reached('paid', 'deferred');
  await agent.decide('paid', { decision: 'approve', approver_email: 'ada@example.com' });
  expect(await counts()).toEqual([]);
  await agent.decide('paid', { decision: 'approve', approver_email: 'ADA@example.com' });
  await agent.decide('paid', { decision: 'approve', approver_email: 'bo@example.com' });
  await paid;
  const refused = agent.send('refused', script);
  await agent.reached('refused', 'deferred');
  await agent.decide('refused', { decision: 'reject', approver_email: 'ada@example.com' });
  await refused;
  const canceled = agent.send('canceled', script);
  await agent.reached('canceled', 'deferred');
  await agent.post('/tasks/canceled/cancel', {});
  await canceled;
  expect(await counts()).toEqual([
    'holdpoint_decision_latency_seconds_count{decision="approve",kind="task"} 1',
    'holdpoint_decision_latency_seconds_count{decision="reject",kind="task"} 1',
    'holdpoint_decision_latency_seconds_count{decision="canceled",kind="task"} 1',
  ]);
  expect(counting(await linesOf(agent, /^holdpoint_decisions_total/)).toSorted()).toEqual([
    'holdpoint_decisions_total{decision="approve",source="http",outcome="counted"} 2',
    'holdpoint_decisions_total{decision="approve",source="http",outcome="repeated"} 1',
    'holdpoint_decisions_total{decision="reject",source="http",outcome="counted"} 1',
  ]);
});

it('metrics report the results of requests, including early refusals', async () => {
  const agent = await startTestAgent();
  const count = async () => linesOf(agent, /^holdpoint_http_request_duration_seconds_count/);
  expect(await count()).toEqual([]);
  await agent.send('one', [{ say: 'hi' }]);
  await agent.get('/tasks/ghost');
  await agent.get('/nothing');
  await agent.as('wrong').get('/tasks');
  await agent.rpc('tasks/destroy', {});
  const name = 'holdpoint_http_request_duration_seconds_count';
  expect((await count()).toSorted()).toEqual([
    `${name}{route="/",code="200",outcome="refused"} 1`,
    `${name}{route="/metrics",code="200",outcome="ok"} 1`,
    `${name}{route="/tasks",code="401",outcome="refused"} 1`,
    `${name}{route="/tasks/send",code="200",outcome="ok"} 1`,
    `${name}{route="/tasks/{id}",code="404",outcome="refused"} 1`,
    `${name}{route="other",code="404",outcome="refused"} 1`,
  ]);
});

it('metrics report the results and the usage of model calls', async () => {
  const agent = await startTestAgent();
  await agent.send('one', [{ tool: 'echo' }, { say: 'hi' }]);
  const labels =
    'gen_ai_operation_name="chat",gen_ai_provider_name="scripted",gen_ai_request_model="demo"';
  expect(await linesOf(agent, /^gen_ai_client_\w+_(count|sum)/)).toEqual([
    expect.stringMatching(/^gen_ai_client_operation_duration_seconds_sum/),
    `gen_ai_client_operation_duration_seconds_count{${labels}} 2`,
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 0`,
    `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="input"} 2`,
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 0`,
    `gen_ai_client_token_usage_count{${labels},gen_ai_token_type="output"} 2`,
  ]);
  const bounds = await linesOf(agent, /^gen_ai_client_token_usage_bucket.*"input"/);
  expect(bounds.map((line) => /le="([^"]+)"/.exec(line)?.[1])).toEqual([
    ...['1', '4', '16', '64', '256', '1024', '4096', '16384', '65536', '262144', '1048576'],
    ...['4194304', '16777216', '67108864', '+Inf'],
  ]);
});

it('metrics have names that Prometheus accepts for their kinds', async () => {
  const agent = await startTestAgent();
  const types = await linesOf(agent, /^# TYPE /);
  expect(types.filter((line) => line.endsWith('_total gauge'))).toEqual([]);
});

it('metrics count rulings, decisions and waits of calls of other programs', async () => {
  const agent = await startTestAgent({
    gate: { tools: { pay: {}, look: {} } },
    security: { defer: { enabled: true, tools: { pay: { to: 'channel:console:*' } } } },
  });
  const ask = async (key: string, tool: string) =>
    (await agent.post('/holds', { key, tool, args: {} })).body.hold_id;
  const approved = await ask('a', 'pay');
  const rejected = await ask('b', 'pay');
  await ask('c', 'look');
  expect(await linesOf(agent, /^holdpoint_deferrals_pending/)).toEqual([
    'holdpoint_deferrals_pending 2',
  ]);
  const open = async () => counting(await linesOf(agent, /^holdpoint_holds_open/));
  expect(await open()).toEqual([
    'holdpoint_holds_open{state="waiting"} 2',
    'holdpoint_holds_open{state="released"} 1',
  ]);
  await agent.post(`/holds/${approved}/decisions`, { decision: 'approve' });
  await agent.post(`/holds/${rejected}/decisions`, { decision: 'reject' });
  expect(await open()).toEqual([
    'holdpoint_holds_open{state="granted"} 1',
    'holdpoint_holds_open{state="released"} 1',
  ]);
  await agent.get(`/holds/${approved}`);
  await agent.post(`/holds/${approved}/outcome`, { status: 'succeeded' });
  expect(await open()).toEqual(['holdpoint_holds_open{state="released"} 1']);
  const found = await linesOf(
    agent,
    /^holdpoint_(rulings|decisions|decision_latency_seconds_count|holds_total|escalations|reminders|grants)/,
  );
  expect(counting(found).toSorted()).toEqual([
    'holdpoint_decision_latency_seconds_count{decision="approve",kind="hold"} 1',
    'holdpoint_decision_latency_seconds_count{decision="reject",kind="hold"} 1',
    'holdpoint_decisions_total{decision="approve",source="http",outcome="counted"} 1',
    'holdpoint_decisions_total{decision="reject",source="http",outcome="counted"} 1',
    'holdpoint_holds_total{state="closed"} 1',
    'holdpoint_holds_total{state="granted"} 1',
    'holdpoint_holds_total{state="released"} 2',
    'holdpoint_rulings_total{decision="allow",layer="defer",tool="look"} 1',
    'holdpoint_rulings_total{decision="defer",layer="defer",tool="pay"} 2',
  ]);
});

it('metrics report the age of the oldest wait, and the next deadline', async () => {
  const agent = await startTestAgent(deferring({ timeout: '1h' }));
  const lines = () => linesOf(agent, /^holdpoint_(deferrals_(oldest|next)|deadlines)/);
  expect(await lines()).toEqual([
    'holdpoint_deferrals_oldest_seconds 0',
    'holdpoint_deferrals_next_expiry_timestamp_seconds 0',
    'holdpoint_deadlines_overdue 0',
  ]);
  const began = Date.now() / 1_000;
  const held = agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
  await agent.reached('held', 'deferred');
  const [age = '', expiry = '', overdue] = await lines();
  expect(Number(age.split(' ')[1])).toBeGreaterThan(0);
  expect(Number(expiry.split(' ')[1])).toBeGreaterThan(began + 3_000);
  expect(Number(expiry.split(' ')[1])).toBeLessThan(began + 3_700);
  expect(overdue).toBe('holdpoint_deadlines_overdue 0');
  await agent.decide('held', { decision: 'reject' });
  await held;
});

it('metrics count callers that are refused before routing', async () => {
  const rate_limit = { read_rps: 0.001, read_burst: 3, write_rps: 1_000, write_burst: 1_000 };
  const settings = { token: 'canary-0b5c-token' };
  const auth = { required: true, providers: [{ type: 'static_token', settings }] };
  const agent = await startTestAgent({ server: { rate_limit }, auth });
  const caller = agent.as(settings.token);
  await agent.post('/tasks/send', {});
  await agent.as('wrong').post('/nothing', {});
  await agent.get('/tasks');
  await caller.get('/tasks/ghost');
  const { body } = await caller.get('/metrics');
  expect((await caller.get('/tasks')).status).toBe(429);
  const lines = String(body).split('\n');
  const counted = lines.filter((line) =>
    /^holdpoint_(auth_failures_total|rate_limited|http_requests_in_flight)/.test(line),
  );
  expect(counted).toEqual([
    'holdpoint_auth_failures_total{reason="missing_token"} 2',
    'holdpoint_auth_failures_total{reason="rejected"} 1',
    'holdpoint_auth_failures_total{reason="invalid"} 0',
    'holdpoint_auth_failures_total{reason="provider_unavailable"} 0',
    'holdpoint_rate_limited_requests_total 0',
    'holdpoint_http_requests_in_flight 1',
  ]);
  const codes = lines.flatMap(
    (line) =>
      /^holdpoint_http_request_duration_seconds_count.*code="(\d+)".* (\d+)$/.exec(line) ?? [],
  );
  expect(codes.filter((_, index) => index % 3 > 0)).toEqual([
    '401',
    '1',
    '401',
    '1',
    '401',
    '1',
    '404',
    '1',
  ]);
});

it('metrics describe the daemon, its store and its policy', async () => {
  const agent = await startTestAgent();
  await agent.send('one', [{ say: 'hi' }]);
  const lines = await linesOf(
    agent,
    /^holdpoint_(ready|build_info|policy|store_writable|push|metrics_unread|store_commit.*count|disk)/,
  );
  const values = Object.fromEntries(lines.map((line) => line.split(/ (?=[^ ]+$)/)));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(values).toEqual({
    [`holdpoint_build_info{agent="till",version="${version}"}`]: '1',
    holdpoint_ready: '1',
    holdpoint_policy_generation: '1',
    holdpoint_policy_current: '1',
    holdpoint_policy_restart_needed: '0',
    holdpoint_store_writable: '1',
    holdpoint_store_commit_duration_seconds_count: expect.stringMatching(/^[1-9]/),
    holdpoint_disk_available_bytes: expect.stringMatching(/^[1-9]/),
    holdpoint_disk_size_bytes: expect.stringMatching(/^[1-9]/),
    holdpoint_push_pending_notifications: '0',
    holdpoint_push_given_up_total: '0',
    holdpoint_metrics_unread_total: '0',
  });
});

it('metrics are equal for many scrapes at once', async () => {
  const agent = await startTestAgent();
  await agent.get('/metrics');
  const answers = await Promise.all(Array.from({ length: 20 }, () => agent.get('/metrics')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

it('metrics count every kind of request by its route and status', async () => {
  const agent = await startTestAgent({
    gate: { tools: { look: {} }, acs: { secrets: { client: 'a-secret-of-32-characters-012345' } } },
    mcp: { servers: [{ name: 'shop', url: 'http://127.0.0.1:9/', tools: { deny: [] } }] },
    server: { mcp: true },
  } as ServiceSettings);
  const { body } = await agent.post('/holds', { key: 'a', tool: 'look', args: {} });
  await agent.get(`/holds/${body.hold_id}`);
  await agent.post(`/holds/${body.hold_id}/outcome`, { status: 'succeeded' });
  await agent.request('DELETE', '/holds/none', { body: {} });
  await agent.post('/hooks/claude-code', {});
  await agent.post('/acs', {});
  await agent.post('/mcp', {});
  await agent.post('/a2a/message:send', {}, { 'A2A-Version': '1.0' });
  await agent.get('/approvals/nothing');
  const stream = await agent.open('GET', '/events');
  await stream.body?.cancel();
  const name = 'holdpoint_http_request_duration_seconds_count';
  const routes = async () =>
    counting(await linesOf(agent, new RegExp(`^${name}`))).map((line) =>
      line.slice(name.length + 1).replace(/,outcome.*/, ''),
    );
  await vi.waitFor(
    async () => expect(await routes()).toContain('route="/events",code="200"'),
    patient,
  );
  expect((await routes()).filter((line) => !line.includes('/metrics')).toSorted()).toEqual([
    'route="/a2a/message:send",code="400"',
    'route="/acs",code="200"',
    'route="/events",code="200"',
    'route="/holds",code="200"',
    'route="/holds/{id}",code="200"',
    'route="/holds/{id}",code="404"',
    'route="/holds/{id}/outcome",code="200"',
    'route="/hooks/{dialect}",code="200"',
    'route="/mcp",code="400"',
    'route="other",code="404"',
  ]);
});
