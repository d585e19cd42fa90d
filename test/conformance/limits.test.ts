import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { personHeader } from '../../src/http/wire/named-person.ts';
import type { AgentClient } from '../helpers/agent-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { launchAgent, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const schema = {
  type: 'object',
  properties: { amount: { type: 'number' }, order: { type: 'string' } },
  required: ['amount', 'order'],
};

const to = 'channel:console:*';

const settings = (more: object = {}) =>
  ({
    gate: { tools: { pay: { schema } }, outcome_within: '100ms' },
    audit: { sign: true },
    security: {
      defer: { enabled: true },
      limits: {
        a_day: { tools: ['pay'], amount: 'args.amount', by: ['caller'], per: '24h', max: 100, to },
        all_calls: { tools: ['*'], per: { calendar: 'month', zone: 'UTC' }, max: 50, over: 'deny' },
      },
      effects: { pay: { key: 'pay:{args.order}', to } },
    },
    ...more,
  }) as ServiceSettings;

const tokenOf = (name: string) => `token-of-${name}-0123456789abcdef`;

const signIn = {
  auth: {
    required: true,
    providers: ['ann', 'bob'].map((name) => ({
      ...{ type: 'static_token', name },
      settings: {
        token: tokenOf(name),
        identity: { user_id: name, email: `${name}@example.com` },
      },
    })),
  },
  server: { task_access: 'requester' },
};

let asked = 0;

/** Asks for a payment; returns its hold. */
async function pay(by: AgentClient, amount: number, order = `A-${(asked += 1)}`) {
  const key = `k-${order}-${(asked += 1)}`;
  const { body } = await by.post('/holds', { key, tool: 'pay', args: { amount, order } });
  return body as { hold_id: string; status: string; receipt: string };
}

const report = (by: AgentClient, id: string, status = 'succeeded') =>
  by.post(`/holds/${id}/outcome`, { status });

/** Waits until the outcome of so many calls is unknown, and returns them. */
const unknown = (by: AgentClient, count: number) =>
  vi.waitFor(async () => {
    const { body } = await by.get('/limits/settlements?state=open');
    expect(body.outcomes).toHaveLength(count);
    return body.outcomes;
  }, patient);

const limitOf = async (by: AgentClient, name: string) =>
  (await by.get('/limits')).body.limits.filter((one: { name: string }) => one.name === name);

describe('the limits of an agent', () => {
  let agent: TestAgent;
  let ann: AgentClient;
  let bob: AgentClient;
  let operator: AgentClient;

  beforeAll(async () => {
    agent = await launchAgent(settings({ ...signIn, gate: { tools: { pay: { schema } } } }));
    [ann, bob, operator] = [
      ...[agent.as(tokenOf('ann')), agent.as(tokenOf('bob'))],
      agent.as(agent.token),
    ] as [AgentClient, AgentClient, AgentClient];
    return () => agent.close();
  });

  const aDay = { name: 'a_day', period: { rolling: '24h0m0s' }, max: 100 };

  it('are listed before a call counts', async () => {
    expect((await operator.get('/limits')).body).toEqual({
      limits: [
        { ...aDay, by: {}, used: 0, reserved: 0, left: 100 },
        {
          ...{ name: 'all_calls', by: {}, period: { calendar: 'month', zone: 'UTC' } },
          ...{ max: 50, used: 0, reserved: 0, left: 50 },
        },
      ],
    });
  });

  it('count a call from its start, for each caller', async () => {
    const { hold_id: id } = await pay(ann, 60.5);
    const running = { ...aDay, by: { caller: 'ann@example.com' }, used: 0, reserved: 60.5 };
    expect(await limitOf(ann, 'a_day')).toEqual([{ ...running, left: 39.5 }]);
    await report(ann, id);
    const ran = { ...running, used: 60.5, reserved: 0, left: 39.5 };
    expect(await limitOf(ann, 'a_day')).toEqual([ran]);
    await pay(bob, 1);
    expect(await limitOf(ann, 'a_day')).toEqual([ran]);
    expect(await limitOf(bob, 'a_day')).toMatchObject([{ by: { caller: 'bob@example.com' } }]);
    expect(await limitOf(operator, 'a_day')).toHaveLength(2);
  });

  it('are with a held call, as its approver sees it', async () => {
    const { hold_id: id, status } = await pay(ann, 50);
    expect(status).toBe('pending');
    const over = {
      ...{ ...aDay, by: { caller: 'ann@example.com' }, used: 60.5, reserved: 0, left: 39.5 },
      ...{ amount: 50, over: true },
    };
    const { deferrals } = (await operator.get('/deferrals')).body;
    expect(deferrals).toMatchObject([{ task_id: id, limits: [over, { name: 'all_calls' }] }]);
    const { metadata } = (await ann.get(`/tasks/${id}`)).body;
    expect(metadata.deferral.limits).toEqual(deferrals[0].limits);
  });

  it('are in the metrics, one for each limit', async () => {
    const { body } = await operator.get('/metrics');
    expect(body).toContain('holdpoint_limit_used{limit="a_day"} 60.5');
    expect(body).toContain('holdpoint_limit_max{limit="a_day"} 100');
    expect(body).toContain('holdpoint_limit_reached_total{limit="a_day",decision="defer"} 1');
    expect(body).toContain('holdpoint_outcomes_unknown 0');
  });

  it('refuse a caller without a token', async () => {
    const nobody = [await agent.get('/limits'), await agent.get('/limits/settlements')];
    expect(nobody.map(({ status }) => status)).toEqual([401, 401]);
  });
});

describe('a held repeat', () => {
  it('has the first call with the same effect, also that of another caller', async () => {
    const agent = await startTestAgent(settings(signIn));
    const [ann, bob] = [agent.as(tokenOf('ann')), agent.as(tokenOf('bob'))];
    const first = await pay(ann, 5, 'A-2001');
    await report(ann, first.hold_id);
    const { status, hold_id: id } = await pay(bob, 5, 'A-2001');
    expect(status).toBe('pending');
    const { deferrals } = (await agent.as(agent.token).get('/deferrals')).body;
    expect(deferrals[0].first).toEqual({
      ...{ call_id: expect.any(String), task_id: first.hold_id, key: 'pay:A-2001' },
      requested_by: { user_id: 'ann', email: 'ann@example.com', provider: 'ann' },
      ...{ at: expect.any(String), released_by: null, outcome: 'succeeded' },
    });
    expect(deferrals[0].task_id).toBe(id);
    // Bob may read the task of his own call only.
    const { call_id, key, at, outcome } = deferrals[0].first;
    const seen = { call_id, key, at, outcome };
    const shown = [
      (await bob.get('/deferrals')).body.deferrals[0],
      (await bob.get(`/deferrals/${deferrals[0].id}`)).body,
      (await bob.get(`/tasks/${id}`)).body.metadata.deferral,
    ];
    expect(shown.map((one) => one.first)).toEqual([seen, seen, seen]);
    const again = await pay(ann, 5, 'A-2001');
    const own = (await ann.get(`/tasks/${again.hold_id}`)).body.metadata.deferral;
    expect(own.first).toEqual(deferrals[0].first);
  });
});

describe('a held call that equals one of another caller', () => {
  it('shows its approver to approvers, not to the caller', async () => {
    const tools = { note: { schema: { type: 'object', properties: { to: { type: 'string' } } } } };
    const agent = await startTestAgent(
      settings({
        ...{ ...signIn, gate: { tools } },
        security: { defer: { enabled: true, tools: { note: { to, approvers: ['carol@x.org'] } } } },
      }),
    );
    const [ann, bob, operator] = [tokenOf('ann'), tokenOf('bob'), agent.token].map((token) =>
      agent.as(token),
    ) as [AgentClient, AgentClient, AgentClient];
    const ask = async (by: AgentClient, key: string) =>
      (await by.post('/holds', { key, tool: 'note', args: { to: 'all' } })).body.hold_id;
    const first = await ask(ann, 'k-1');
    const decision = { decision: 'approve', approver_email: 'carol@x.org' };
    expect((await operator.post(`/tasks/${first}/decisions`, decision)).status).toBe(200);
    const id = await ask(bob, 'k-2');
    const repeats = { call_id: expect.any(String), at: expect.any(String) };
    const { deferrals } = (await operator.get('/deferrals')).body;
    expect(deferrals[0].repeats).toEqual({ ...repeats, approver: 'carol@x.org' });
    const shown = [
      (await bob.get('/deferrals')).body.deferrals[0],
      (await bob.get(`/tasks/${id}`)).body.metadata.deferral,
    ];
    expect(shown.map((one) => one.repeats)).toEqual([repeats, repeats]);
  });
});

describe('a call whose outcome nobody knows', () => {
  const reason = 'the bank has no payment for this order';

  it('is listed, and a person settles it once', async () => {
    const agent = await startTestAgent(settings(signIn));
    const [ann, operator] = [agent.as(tokenOf('ann')), agent.as(agent.token)];
    const { hold_id: id, receipt } = await pay(ann, 70, 'A-1');
    const [call] = await unknown(operator, 1);
    expect(call).toEqual({
      ...{ call_id: expect.any(String), task_id: id, tool: 'pay', at: expect.any(String) },
      args_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      requested_by: { user_id: 'ann', email: 'ann@example.com', provider: 'ann' },
      limits: expect.arrayContaining([
        { name: 'a_day', amount: 70 },
        { name: 'all_calls', amount: 1 },
      ]),
      ...{ effects: ['pay:A-1'], settled: null },
    });
    expect(await limitOf(operator, 'a_day')).toMatchObject([{ used: 70, left: 30 }]);
    const body = { call_id: call.call_id, ran: false, reason, approver: 'carol' };
    const settled = await operator.post('/limits/settlements', body);
    const statement = { ran: false, by: 'carol', reason, at: expect.any(String) };
    expect(settled).toMatchObject({ status: 200, body: { ...call, settled: statement } });
    expect(await limitOf(operator, 'a_day')).toMatchObject([{ used: 0, left: 100 }]);
    const again = await operator.post('/limits/settlements', { ...body, ran: true });
    expect(again.status).toBe(409);
    expect(again.body).toEqual({
      error: expect.stringMatching(/^carol settled the call at .*: that it did not run$/),
      ...{ code: 'outcome_settled', settled: settled.body.settled },
    });
    const lists = [
      (await operator.get('/limits/settlements?state=open')).body,
      (await operator.get('/limits/settlements?state=settled')).body,
    ];
    expect(lists).toEqual([{ outcomes: [] }, { outcomes: [settled.body] }]);
    const line = agent.audit().find(({ event }) => event === 'limit_settled');
    expect(line).toMatchObject({
      task_id: id,
      fields: {
        ...{ call_id: call.call_id, tool: 'pay', args_sha256: call.args_sha256, ran: false },
        ...{ by: 'carol', reason, method: 'runtime_token', vouched_by: 'asserted' },
        ...{ effects: ['pay:A-1'], provider: 'runtime', user_id: 'runtime' },
      },
    });
    const claims = decodeJwt(String((await ann.get(receipt)).body));
    expect(claims).toMatchObject({
      limits: expect.arrayContaining([expect.objectContaining({ name: 'a_day', amount: '70' })]),
      settled: { ran: false, by: 'carol', reason, method: 'runtime_token' },
    });
    expect((await pay(ann, 100, 'A-1')).status).toBe('allowed');
  });

  it('counts again if its program reports a success after a person stated that it did not run', async () => {
    const agent = await startTestAgent(settings(signIn));
    const [ann, operator] = [agent.as(tokenOf('ann')), agent.as(agent.token)];
    const { hold_id: id, receipt } = await pay(ann, 70, 'A-1');
    const [call] = await unknown(operator, 1);
    const body = { call_id: call.call_id, ran: false, reason };
    // Nobody is named, as for a decision without a list of approvers.
    expect((await operator.post('/limits/settlements', body)).body.settled.by).toBe('unknown');
    await report(ann, id);
    const { outcomes } = (await operator.get('/limits/settlements?state=settled')).body;
    const stated = { ran: false, by: 'unknown', reason, at: expect.any(String) };
    expect(outcomes).toEqual([
      { ...call, settled: { ...stated, contradicted_at: expect.any(String) } },
    ]);
    expect(await limitOf(operator, 'a_day')).toMatchObject([{ used: 70, left: 30 }]);
    const lines = agent.audit().filter(({ event }) => event === 'limit_settled');
    expect(lines.map(({ fields }) => fields)).toMatchObject([
      { ran: false, by: 'unknown', method: 'runtime_token', vouched_by: 'nobody' },
      {
        ...{ call_id: call.call_id, tool: 'pay', ran: true, by: 'tool:pay' },
        ...{ method: 'late_outcome', contradicts: { ran: false, by: 'unknown' } },
      },
    ]);
    expect(decodeJwt(String((await ann.get(receipt)).body))).toMatchObject({
      settled: { ran: true, by: 'tool:pay', method: 'late_outcome' },
    });
  });

  it('is settled by no caller, listed for its own, and paged', async () => {
    const agent = await startTestAgent(settings(signIn));
    const [ann, bob, operator] = [
      ...[agent.as(tokenOf('ann')), agent.as(tokenOf('bob'))],
      agent.as(agent.token),
    ] as [AgentClient, AgentClient, AgentClient];
    await pay(ann, 1);
    await pay(ann, 1);
    const calls = await unknown(ann, 2);
    expect((await bob.get('/limits/settlements')).body).toEqual({ outcomes: [] });
    const body = { call_id: calls[0].call_id, ran: false, reason };
    for (const by of [ann, bob]) {
      const refused = await by.post('/limits/settlements', body);
      expect([refused.status, refused.body.code]).toEqual([403, 'daemon_token_required']);
    }
    const first = (await operator.get('/limits/settlements?limit=1')).body;
    const cursor = encodeURIComponent(first.next_cursor);
    const second = (await operator.get(`/limits/settlements?limit=1&cursor=${cursor}`)).body;
    expect([...first.outcomes, ...second.outcomes]).toEqual(calls);
    expect(second).not.toHaveProperty('next_cursor');
    const own = { ...body, approver: ' Ann@example.com' };
    const refused = await operator.post('/limits/settlements', own);
    expect([refused.status, refused.body.code]).toEqual([403, 'own_call']);
  });

  it('is settled by an operator of the dashboard who did not request it', async () => {
    const dashboard_issuer = 'https://id.example.com';
    const auth = { ...signIn.auth, dashboard_issuer };
    const agent = await startTestAgent(settings({ ...signIn, auth }));
    const operator = agent.as(agent.token);
    await pay(agent.as(tokenOf('ann')), 1);
    const [call] = await unknown(operator, 1);
    const settle = async (name: string, access: 'own' | 'all') => {
      const person = {
        issuer: dashboard_issuer,
        access,
        user_id: name,
        email: `${name}@example.com`,
      };
      const header = Buffer.from(JSON.stringify(person)).toString('base64url');
      const body = { call_id: call.call_id, ran: true, reason, approver: 'mallory' };
      const answer = await operator.post('/limits/settlements', body, { [personHeader]: header });
      return [answer.status, answer.body.code ?? answer.body.settled.by];
    };
    expect([
      await settle('eve', 'own'),
      await settle('ann', 'all'),
      await settle('eve', 'all'),
    ]).toEqual([
      [403, 'daemon_token_required'],
      [403, 'own_call'],
      [200, 'eve@example.com'],
    ]);
    expect(agent.audit().find(({ event }) => event === 'limit_settled')?.fields).toMatchObject({
      ...{ by: 'eve@example.com', method: 'dashboard', vouched_by: 'token:dashboard' },
      user_id: 'eve',
    });
  });

  it.each<[number, string, object]>([
    [400, 'invalid_body', { ran: true, reason }],
    [400, 'invalid_body', { call_id: 'c-1', ran: 'yes', reason }],
    [400, 'invalid_body', { call_id: 'c-1', ran: true }],
    [400, 'invalid_body', { call_id: 'c-1', ran: true, reason: ' ' }],
    [404, 'outcome_not_found', { call_id: 'c-1', ran: true, reason }],
  ])('answers %i %s to the statement %j', async (status, code, body) => {
    const agent = await startTestAgent(settings());
    const answer = await agent.as(agent.token).post('/limits/settlements', body);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it.each([
    ['state=unknown', 'invalid_query'],
    ['limit=0', 'invalid_query'],
    ['cursor=x', 'invalid_cursor'],
  ])('answers 400 to a list of %s', async (query, code) => {
    const agent = await startTestAgent(settings());
    const answer = await agent.get(`/limits/settlements?${query}`);
    expect([answer.status, answer.body.code]).toEqual([400, code]);
  });
});
