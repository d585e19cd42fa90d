import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { loginName } from '../../../src/actors/login-name.ts';
import { AgentClient } from '../../helpers/agent-client.ts';
import type { ServiceSettings } from '../../helpers/agent-folder.ts';
import { beginChat, chatEvent, endChat, startRawModel } from '../../helpers/model-server.ts';
import { deferring, expectIntact, readAudit } from '../../helpers/test-agent.ts';
import { openDashboard, type TestDashboard } from '../../helpers/test-dashboard.ts';
import { WorkspaceAgent } from '../../helpers/workspace-agents.ts';

const patience = { timeout: 60_000, interval: 25 };

/** A dashboard whose one agent it has started. */
async function openWith(
  settings: ServiceSettings,
  { token = null }: { token?: string | null } = {},
) {
  let agent!: WorkspaceAgent;
  const page = await openDashboard(
    (workspace) => {
      agent = new WorkspaceAgent(workspace, 'till', settings);
    },
    { token },
  );
  await agent.start(page);
  const decide = (body: object, task = 't1') =>
    page.post(`/api/agents/till/tasks/${task}/decisions`, body);
  const audit = () => readAudit(`${agent.folder.path}/.service/audit.ndjson`);
  const decisions = () =>
    audit()
      .filter(({ event }) => event === 'task_deferred_decision')
      .map(({ fields = {} }) => fields);
  return { page, agent, decide, audit, decisions };
}

/** Sends a task that is held, and resolves once the dashboard reports the wait. */
async function hold(page: TestDashboard, caller: AgentClient, task = 't1') {
  const answered = caller.send(task, [
    { tool: 'pay', args: { amount: 5 } },
    { say: 'It is paid.' },
  ]);
  answered.catch(() => undefined);
  const waiting = async () => (await page.get('/api/deferrals')).body.deferrals;
  await vi.waitUntil(
    async () => (await waiting()).some(({ task_id }: { task_id: string }) => task_id === task),
    patience,
  );
  const [deferral] = await waiting();
  return { answered, deferral };
}

/** Who decides on the dashboard of this machine. */
const operator = `${loginName()} on the dashboard`;

describe('a decision over the dashboard', () => {
  it('approves a call as the operator of the machine, without a verified name', async () => {
    const { page, agent, decide, decisions } = await openWith(deferring());
    const { answered, deferral } = await hold(page, agent.client);
    const { status, body } = await decide({ decision: 'approve' });
    expect([status, body]).toEqual([
      200,
      {
        ...{ task_id: 't1', deferral_id: deferral.id, decision: 'approve' },
        ...{ approver: operator, status: 'resolved' },
      },
    ]);
    expect(JSON.stringify((await answered).body)).toContain('It is paid.');
    expect(agent.folder.paid).toHaveLength(1);
    expect(decisions()).toMatchObject([
      { decision: 'approve', approver: operator, vouched_by: 'asserted', provider: 'runtime' },
    ]);
    await expectIntact(`${agent.folder.path}/.service/audit.ndjson`);
  });

  it('settles a call whose outcome nobody knows, and shows what it counts for', async () => {
    const limit = { tools: ['pay'], per: '24h', max: 5, to: 'channel:console:*' };
    const { page, agent, audit } = await openWith({
      gate: { tools: { pay: {} }, outcome_within: '100ms' },
      security: { defer: { enabled: true }, limits: { payments: limit } },
    });
    await agent.client.post('/holds', { key: 'k-1', tool: 'pay', args: {} });
    const outcomes = async () => (await page.get('/api/outcomes')).body;
    await vi.waitUntil(async () => (await outcomes()).open.length === 1, patience);
    const standing = { name: 'payments', max: 5, used: 1, left: 4 };
    expect((await page.get('/api/agents/till/limits')).body).toMatchObject({ limits: [standing] });
    const [{ call_id }] = (await outcomes()).open;
    const statement = { call_id, ran: false, reason: 'not at the bank' };
    const settled = await page.post('/api/agents/till/outcomes', statement);
    expect([settled.status, settled.body.settled.by]).toEqual([200, operator]);
    expect(await outcomes()).toMatchObject({
      ...{ open: [], unasked: [] },
      settled: [{ agent_id: 'till', call_id, settled: { ran: false, by: operator } }],
    });
    expect((await page.post('/api/agents/till/outcomes', statement)).status).toBe(409);
    expect(audit().find(({ event }) => event === 'limit_settled')?.fields).toMatchObject({
      ...{ by: operator, method: 'runtime_token', vouched_by: 'asserted' },
    });
  });

  it('releases later calls where the rule allows it, until the grant expires', async () => {
    const settings = deferring();
    const defer = settings.security?.defer as object;
    const remember = { max_time: '1h', max_uses: 3 };
    const { page, agent, decide, decisions } = await openWith({
      ...settings,
      security: { ...settings.security, defer: { ...defer, remember } },
    });
    const first = await hold(page, agent.client);
    expect(first.deferral.remember).toEqual({ for: '1h0m0s', uses: 3 });
    await decide({ decision: 'approve', remember: { scope: 'caller', for: '30m', uses: 2 } });
    await first.answered;
    await agent.client.send('t2', [{ tool: 'pay', args: { amount: 5 } }, { say: 'It is paid.' }]);
    const { body } = await page.get('/api/grants');
    const [{ id }] = body.grants;
    expect(body).toMatchObject({
      grants: [{ agent_id: 'till', tool: 'pay', approver: operator, uses_left: 1 }],
      unasked: [],
    });
    const revoked = await page.post(`/api/agents/till/grants/${id}/revoke`, {});
    expect([revoked.status, (await page.get('/api/grants')).body.grants]).toEqual([200, []]);
    expect((await page.post(`/api/agents/till/grants/${id}/revoke`, {})).status).toBe(404);
    const again = await hold(page, agent.client, 't3');
    await decide({ decision: 'reject' }, 't3');
    await again.answered;
    expect(decisions().map(({ decision }) => decision)).toEqual(['approve', 'reject']);
    expect(agent.folder.paid).toHaveLength(2);
  });

  it('rejects a call with its reason, and a claimed name is recorded as such', async () => {
    const { page, agent, decide, decisions } = await openWith(deferring());
    const { answered } = await hold(page, agent.client);
    const given = { decision: 'reject', note: 'too much', approver_email: 'kate@example.com' };
    expect((await decide(given)).status).toBe(200);
    await answered;
    expect(agent.folder.paid).toEqual([]);
    expect(decisions()).toMatchObject([
      {
        ...{ decision: 'reject', approver: 'kate@example.com', note: 'too much' },
        ...{ vouched_by: 'asserted', provider: 'runtime' },
      },
    ]);
  });

  it('is made once when many arrive at once, and the others receive the first decider', async () => {
    const { page, agent, decide, decisions } = await openWith(deferring());
    const { answered } = await hold(page, agent.client);
    const names = ['ann', 'ben', 'eve', 'kim'];
    const answers = await Promise.all(
      names.map((name, place) =>
        decide({ decision: place % 2 === 0 ? 'approve' : 'reject', approver: name }),
      ),
    );
    await answered;
    const first = answers.find(({ status }) => status === 200)!;
    const others = answers.filter((answer) => answer !== first);
    const { decision, approver } = first.body;
    expect(others.map(({ status, body }) => [status, body])).toEqual(
      Array(3).fill([
        409,
        {
          error: 'deferral already decided',
          code: 'already_decided',
          ...{ decision, approver, decided_at: expect.stringMatching(/Z$/) },
        },
      ]),
    );
    expect(decisions()).toMatchObject([{ decision, approver }]);
    expect(agent.folder.paid).toHaveLength(decision === 'approve' ? 1 : 0);
    const late = await decide({ decision: 'approve' });
    expect([late.status, late.body.approver]).toEqual([409, approver]);
  });

  it('is refused for an unlisted person, and the call keeps waiting', async () => {
    const { page, agent, decide, decisions } = await openWith(
      deferring({ approvers: ['kate@example.com'] }),
    );
    const { answered } = await hold(page, agent.client);
    for (const given of [
      {},
      { approver: 'kate@example.com' },
      { approver_email: 'eve@example.com' },
    ]) {
      const { status, body } = await decide({ decision: 'approve', ...given });
      expect([status, body]).toEqual([
        403,
        { error: 'approver not authorized', code: 'approver_not_authorized' },
      ]);
    }
    expect(agent.folder.paid).toEqual([]);
    expect(decisions().map(({ approver, authorized }) => [approver, authorized])).toEqual([
      [operator, false],
      ['kate@example.com', false],
      ['eve@example.com', false],
    ]);
    expect((await decide({ decision: 'maybe' })).status).toBe(400);
    expect((await decide({ decision: 'approve' }, 't2')).status).toBe(404);
    expect((await decide({ decision: 'approve', approver_email: 'Kate@example.com' })).status).toBe(
      200,
    );
    await answered;
  });
});

const auth = {
  required: true,
  providers: ['ann', 'bob'].map((name) => ({
    type: 'static_token',
    name: `desk-${name}`,
    settings: {
      token: `token-of-${name}`,
      identity: { user_id: name, email: `${name}@example.com`, claims: { org_id: 'acme' } },
    },
  })),
};

describe('a dashboard that requires a token', () => {
  it('lets a person with a token of the agent decide as exactly that person', async () => {
    const settings = { ...deferring(), auth, server: { task_access: 'any' } };
    const { page, agent, decide, decisions } = await openWith(settings, { token: 'of-the-page' });
    const ann = new AgentClient(agent.client.url, 'token-of-ann');
    const { answered } = await hold(page, ann);
    const stranger = await decide({ decision: 'approve', token: 'guessed' });
    expect(stranger.status).toBe(401);
    expect(decisions()).toEqual([]);
    const decided = await decide({ decision: 'approve', approver: 'Bob', token: 'token-of-bob' });
    expect(decided.status).toBe(200);
    await answered;
    expect(decisions()).toMatchObject([{ approver: 'Bob', provider: 'desk-bob', user_id: 'bob' }]);
  });

  it('sends several at once, each with its own answer, and lists them with their outcomes', async () => {
    const { page, agent, decisions } = await openWith(deferring());
    const one = await hold(page, agent.client, 't1');
    const other = await hold(page, agent.client, 't2');
    const waiting = (await page.get('/api/deferrals')).body.deferrals;
    const pinned = (task: string) => {
      const { id, args_sha256 } = waiting.find((held: any) => held.task_id === task);
      return { task_id: task, deferral_id: id, args_sha256 };
    };
    const { status, body } = await page.post('/api/agents/till/deferrals/decisions', {
      decisions: [
        { decision: 'reject', note: 'too much', ...pinned('t1') },
        { decision: 'approve', ...pinned('t2'), args_sha256: 'a'.repeat(64) },
        { decision: 'approve', ...pinned('t2'), approver_email: 'kate@example.com' },
        { decision: 'approve', task_id: 't2' },
        7,
      ],
    });
    expect([status, body.decisions.map((each: any) => each.status)]).toEqual([
      ...[200, [200, 409, 200, 400, 400]],
    ]);
    await Promise.all([one.answered, other.answered]);
    expect(agent.folder.paid).toHaveLength(1);
    expect(decisions().map(({ approver, decision }) => [approver, decision])).toEqual([
      [operator, 'reject'],
      ['kate@example.com', 'approve'],
    ]);
    const listed = (await page.get('/api/deferrals/decided')).body;
    expect(listed.unasked).toEqual([]);
    expect(listed.decided).toMatchObject([
      { agent_id: 'till', task_id: 't2', decision: 'approve', outcome: 'ran' },
      { agent_id: 'till', task_id: 't1', decision: 'reject', note: 'too much' },
    ]);
    const refused = await page.post('/api/agents/till/deferrals/decisions', { decisions: 'all' });
    expect(refused.status).toBe(400);
  });

  it('proves no identity: its own token is none of the agent, and its user is the operator', async () => {
    const settings = { ...deferring(), auth };
    const { page, agent, decide, decisions, audit } = await openWith(settings, {
      token: 'of-the-page',
    });
    const ann = new AgentClient(agent.client.url, 'token-of-ann');
    const { answered } = await hold(page, ann);
    expect((await decide({ decision: 'approve', token: 'of-the-page' })).status).toBe(401);
    expect((await decide({ decision: 'approve' })).status).toBe(200);
    await answered;
    expect(decisions()).toMatchObject([
      { approver: operator, vouched_by: 'asserted', provider: 'runtime' },
    ]);
    expect(JSON.stringify(audit())).not.toMatch(/of-the-page|token-of-ann/);
  });

  it('is refused under bind_approver, where only a verified email counts', async () => {
    const defer = { bind_approver: true };
    const settings = { ...deferring({ approvers: ['kate@example.com'] }, defer), auth };
    const { page, agent, decide, decisions } = await openWith(settings, { token: 'of-the-page' });
    await hold(page, new AgentClient(agent.client.url, 'token-of-ann'));
    for (const given of [{}, { token: 'token-of-bob' }, { approver_email: 'kate@example.com' }]) {
      expect((await decide({ decision: 'approve', ...given })).status).toBeGreaterThanOrEqual(403);
    }
    expect(agent.folder.paid).toEqual([]);
    expect(decisions()).toMatchObject([
      { approver: operator, authorized: false, vouched_by: 'asserted' },
      { approver: 'bob@example.com', authorized: false, vouched_by: 'token:desk-bob' },
      { approver: 'kate@example.com', authorized: false, vouched_by: 'asserted' },
    ]);
  });
});

describe('a task of an agent', () => {
  it('is canceled, and its call never runs', async () => {
    const { page, agent } = await openWith(deferring());
    const { answered } = await hold(page, agent.client);
    const { status, body } = await page.post('/api/agents/till/tasks/t1/cancel', {
      reason: 'no need',
    });
    expect([status, body.status.state]).toEqual([200, 'canceled']);
    await answered;
    const shown = await page.get('/api/agents/till/tasks/t1');
    expect(shown.body).toMatchObject({ state: 'canceled', deferral: null });
    expect((await page.get('/api/deferrals')).body.deferrals).toEqual([]);
    expect(agent.folder.paid).toEqual([]);
  });
});

describe('a conversation over the dashboard', () => {
  it("streams the model's words, and ends with its session, which continues", async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    let turns = 0;
    const url = await startRawModel((response) => {
      turns += 1;
      if (turns === 1) {
        beginChat(response, 'The lamp ');
        asked.resolve(response);
        return;
      }
      beginChat(response, 'It was a lamp.');
      endChat(response);
    });
    const model = { provider: 'openai-compatible', name: 'gpt', base_url: `${url}/v1` };
    const { page } = await openWith({ model });
    const talk = await page.stream('/api/agents/till/chat', { body: { message: 'What broke?' } });
    const words = ({ event, data }: any) => (event === 'progress' ? data.text : null);
    // It is heard from its beginning, though the model may have begun before the task was joined.
    const heard = await talk.until((event) => words(event) === 'The lamp ');
    expect(heard.some(({ event }) => event === 'result')).toBe(false);
    const response = await asked.promise;
    response.write(chatEvent({ content: 'is broken.' }));
    endChat(response);
    const rest = await talk.rest();
    expect(rest.map(words).filter(Boolean).join('')).toBe('is broken.');
    const [result, done] = rest.slice(-2);
    expect(result).toMatchObject({ event: 'result', data: { status: { state: 'completed' } } });
    expect(done).toEqual({
      id: undefined,
      event: 'done',
      data: { session_id: result!.data.contextId, task_id: result!.data.id },
    });

    const session = done!.data.session_id as string;
    const body = { message: 'What was it?', session_id: session };
    const again = await (await page.stream('/api/agents/till/chat', { body })).rest();
    expect(again.at(-1)!.data.session_id).toBe(session);
    const { body: sessions } = await page.get('/api/agents/till/sessions');
    expect(sessions).toEqual([
      {
        ...{ id: session, preview: 'What broke?' },
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    ]);
    const { body: whole } = await page.get(`/api/agents/till/sessions/${session}`);
    expect(whole.messages.map(({ role, parts: [{ text }] }: any) => `${role} ${text}`)).toEqual([
      'user What broke?',
      'agent The lamp is broken.',
      'user What was it?',
      'agent It was a lamp.',
    ]);
    expect((await page.get('/api/agents/till/sessions/of-nobody')).status).toBe(404);
  });

  it('continues for a returning client, and needs a running agent', async () => {
    const { page, agent } = await openWith(deferring());
    const { answered } = await hold(page, agent.client);
    const joined = await page.stream('/api/agents/till/tasks/t1/events');
    expect((await joined.next())?.data.status.state).toBe('deferred');
    expect(
      (await page.post('/api/agents/till/tasks/t1/decisions', { decision: 'approve' })).status,
    ).toBe(200);
    const rest = await joined.rest();
    expect(rest.map(({ event }) => event).slice(-2)).toEqual(['result', 'done']);
    await answered;
    expect((await page.post('/api/agents/till/stop', {})).status).toBe(202);
    await vi.waitUntil(
      async () => (await page.get('/api/agents/till')).body.status === 'stopped',
      patience,
    );
    for (const [path, body] of [
      ['chat', { message: 'hello' }],
      ['tasks/t1/cancel', {}],
    ] as const) {
      const { status, body: said } = await page.post(`/api/agents/till/${path}`, body);
      expect([status, said]).toEqual([
        400,
        { error: 'the agent till does not run', code: 'agent_not_running' },
      ]);
    }
  });

  it.each([{}, { message: '' }, { message: 7 }, { message: 'hello', session_id: '../x' }])(
    'is refused as %j',
    async (body) => {
      const page = await openDashboard((workspace) => {
        new WorkspaceAgent(workspace, 'till', {});
      });
      expect((await page.post('/api/agents/till/chat', body)).status).toBe(400);
    },
  );
});
