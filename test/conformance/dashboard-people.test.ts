import { describe, expect, it } from 'vitest';
import { type NamedPerson, personHeader } from '../../src/http/wire/named-person.ts';
import { type AgentClient, playing } from '../helpers/agent-client.ts';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import { deferring, reached, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const issuer = 'https://id.example.com/realms/staff';
const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const program = 'token-of-the-program';
const identity = { user_id: 'shop', email: 'shop@example.com' };

/** The header in which the dashboard names a person. */
function naming(person: Partial<NamedPerson> | string): Record<string, string> {
  const text = typeof person === 'string' ? person : JSON.stringify({ ...ann, ...person });
  return { [personHeader]: Buffer.from(text).toString('base64url') };
}

const ann: NamedPerson = { issuer, access: 'own', user_id: 'ann', email: 'ann@example.com' };

function start(rule: object, settings: ServiceSettings = {}): Promise<TestAgent> {
  const { security } = deferring(rule) as { security: { defer: object } };
  return startTestAgent({
    security: { defer: { ...security.defer, bind_approver: true } },
    auth: {
      dashboard_issuer: issuer,
      providers: [{ type: 'static_token', name: 'shop', settings: { token: program, identity } }],
    },
    ...settings,
  });
}

async function park(agent: TestAgent, caller: AgentClient = agent.as(program), id = 't1') {
  const answer = caller.send(id, script);
  const body = await reached(agent.as(agent.token), id, 'deferred');
  const { id: call, args_sha256 } = body.metadata.deferral;
  return { answer, call, approval: { decision: 'approve', deferral_id: call, args_sha256 } };
}

/** Sends a decision with the daemon's own token. */
function decide(agent: TestAgent, decision: object, person: Partial<NamedPerson> | string = {}) {
  return agent.as(agent.token).post('/tasks/t1/decisions', decision, naming(person));
}

describe('a person named by the dashboard', () => {
  it('decides with the verified email, and the log has the sign-in of the dashboard', async () => {
    const agent = await start({ approvers: ['ann@example.com'] });
    const { answer, call, approval } = await park(agent);
    const own = agent.as(agent.token);
    const seen = await own.get(`/deferrals/${call}`, naming({}));
    expect(seen.body).toMatchObject({ id: call, args: { amount: 5 }, may_decide: true });
    const body = { ...approval, approver: 'eve', approver_email: 'eve@example.com' };
    expect(await decide(agent, body)).toMatchObject({
      status: 200,
      body: { approver: 'ann@example.com', status: 'resolved' },
    });
    expect((await answer).body.status.state).toBe('completed');
    const [line] = agent.audit('t1').filter(({ event }) => event === 'task_deferred_decision');
    expect(line?.fields).toMatchObject({
      approver: 'ann@example.com',
      method: 'dashboard',
      provider: 'dashboard',
      user_id: 'ann',
      vouched_by: 'token:dashboard',
    });
    const decided = await own.get('/deferrals?decided_by=me', naming({}));
    expect(decided.body.deferrals).toMatchObject([{ id: call, decision: 'approve' }]);
  });

  it('sees own tasks and calls that list the person, and with access to all each task', async () => {
    const agent = await start({ approvers: ['bob@example.com'] });
    const { call, approval } = await park(agent);
    const own = agent.as(agent.token);
    expect((await own.get('/deferrals', naming({}))).body).toEqual({ deferrals: [], total: 0 });
    expect((await own.get(`/deferrals/${call}`, naming({}))).status).toBe(404);
    expect((await own.get('/tasks/t1', naming({}))).status).toBe(404);
    expect((await decide(agent, approval)).status).toBe(404);
    const all = { access: 'all' as const };
    expect((await own.get('/deferrals', naming(all))).body.total).toBe(1);
    const whole = await own.get(`/deferrals/${call}`, naming(all));
    expect(whole.body).toMatchObject({ id: call, may_decide: false });
    expect((await decide(agent, approval, all)).status).toBe(403);
    expect(agent.folder.paid).toEqual([]);
  });

  it('satisfies groups and claims in rules', async () => {
    const approvers = ['group:finance', 'claim:department=legal'];
    const agent = await start({ approvers });
    const { approval } = await park(agent);
    expect((await decide(agent, approval, { groups: ['sales'] })).status).toBe(404);
    const eve = { user_id: 'eve', email: 'eve@example.com', claims: { department: ['it'] } };
    expect((await decide(agent, approval, eve)).status).toBe(404);
    const lea = { user_id: 'lea', email: 'lea@example.com', claims: { department: ['legal'] } };
    expect((await decide(agent, approval, lea)).status).toBe(200);
  });

  it('is the requester with a token of the same issuer, or on the dashboard', async () => {
    const agent = await start({
      approvers: ['ann@example.com', 'bob@example.com'],
      four_eyes: true,
    });
    const own = agent.as(agent.token);
    const task = { id: 't1', message: playing(script) };
    const sent = own.post('/tasks/send', { task }, naming({}));
    const { metadata } = await reached(own, 't1', 'deferred');
    const { id: deferral_id, args_sha256 } = metadata.deferral;
    const approval = { decision: 'approve', deferral_id, args_sha256 };
    expect((await decide(agent, approval)).status).toBe(403);
    const renamed = { email: 'bob@example.com' };
    expect((await decide(agent, approval, renamed)).status).toBe(403);
    const bob = { user_id: 'bob', email: 'bob@example.com', access: 'all' as const };
    const approvedByBob = await decide(agent, approval, bob);
    expect(approvedByBob.status).toBe(200);
    expect((await sent).status).toBe(200);
  });

  it('needs a verified email, and a decision that names the call', async () => {
    const agent = await start({ approvers: ['ann@example.com'] });
    const { approval } = await park(agent);
    const { email: _, ...mute } = ann;
    expect((await decide(agent, approval, JSON.stringify(mute))).status).toBe(403);
    expect((await decide(agent, { decision: 'approve' })).status).toBe(400);
  });
});

describe('the header of a person', () => {
  it("is accepted only with the daemon's own token", async () => {
    const agent = await start({ approvers: ['ann@example.com'] });
    const { approval } = await park(agent);
    for (const caller of [agent, agent.as(program), agent.as('guessed')]) {
      const answer = await caller.post('/tasks/t1/decisions', approval, naming({}));
      expect([401, 403]).toContain(answer.status);
    }
    const { body } = await agent.as(program).get('/tasks', naming({}));
    expect(body).toEqual({
      error: "only the daemon's own token may send X-Service-Person",
      code: 'daemon_token_required',
    });
    expect(agent.folder.paid).toEqual([]);
  });

  it('is refused by an agent without dashboard people, or of another issuer', async () => {
    const agent = await start({ approvers: ['ann@example.com'] });
    const { approval } = await park(agent);
    const other = await decide(agent, approval, { issuer: 'https://evil.example.com' });
    expect(other.status).toBe(403);
    const closed = await start({ approvers: ['ann@example.com'] }, { auth: {} });
    const answer = await closed.as(closed.token).get('/tasks', naming({}));
    expect(answer).toMatchObject({
      status: 403,
      body: {
        error: `the agent accepts no people of the dashboard; set auth.dashboard_issuer to ${issuer} in its service.yaml`,
        code: 'dashboard_not_accepted',
      },
    });
  });

  it.each([
    ['no JSON', 'ann'],
    ['another field', JSON.stringify({ ...ann, provider: 'runtime' })],
    ['no user', JSON.stringify({ ...ann, user_id: '' })],
    ['another access', JSON.stringify({ ...ann, access: 'root' })],
    ['groups that are not a list', JSON.stringify({ ...ann, groups: 'finance' })],
  ])('is 400 with %s', async (_, text) => {
    const agent = await start({});
    expect((await agent.as(agent.token).get('/tasks', naming(text))).status).toBe(400);
  });

  it("gives no right of the daemon's own token", async () => {
    const agent = await start({});
    const own = agent.as(agent.token);
    const all = naming({ access: 'all' });
    expect((await own.post('/policy/reload', {}, all)).status).toBe(403);
    const given = { from: 'bob@example.com', to: 'ann@example.com', until: '2099-01-01T00:00:00Z' };
    expect((await own.post('/delegations', given, all)).status).toBe(403);
  });
});
