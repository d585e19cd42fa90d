import type { JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { agentResource, startIdentityProvider } from '../helpers/identity-provider.ts';
import { reached, startTestAgent } from '../helpers/test-agent.ts';

const [ann, bo, cy] = ['ann@example.com', 'bo@example.com', 'cy@example.com'];
const until = '2099-01-01T00:00:00.000Z';
const soon = new Date(Date.now() + 3_600_000).toISOString();

async function agentOf(rule: object = {}) {
  const provider = await startIdentityProvider();
  const settings = { issuer: provider.issuer, audience: agentResource };
  const pay = { to: 'channel:console:desk', approvers: [ann], timeout: '5m', ...rule };
  const folder = new AgentFolder({
    auth: { required: true, providers: [{ type: 'oidc', name: 'sso', settings }] },
    security: { defer: { enabled: true, bind_approver: true, remember: {}, tools: { pay } } },
  });
  const agent = await startTestAgent({}, { folder });
  const now = Math.floor(Date.now() / 1_000);
  const as = async (email: string, claims: JWTPayload = {}) =>
    agent.as(
      await provider.forge({
        ...{ iss: provider.issuer, aud: agentResource, iat: now, exp: now + 300 },
        ...{ sub: email, email, email_verified: true, ...claims },
      }),
    );
  return { agent, as };
}

describe('POST /delegations', () => {
  it('lets another person decide, until it is ended', async () => {
    const { agent, as } = await agentOf();
    const rita = await as('rita@example.com');
    const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
    for (const id of ['t1', 't2']) {
      void rita.send(id, script).catch(() => undefined);
      await reached(rita, id, 'deferred');
    }
    const given = await (await as(ann)).post('/delegations', { to: 'Bo@Example.com', until: soon });
    const { id, since } = given.body;
    expect(given).toMatchObject({
      status: 201,
      body: { id, from: ann, to: bo, since, until: soon },
    });
    const decide = async (task: string) =>
      (await (await as(bo)).post(`/tasks/${task}/decisions`, { decision: 'approve' })).status;
    expect(await decide('t1')).toBe(200);
    const { fields } =
      agent.audit('t1').find(({ event }) => event === 'task_deferred_decision') ?? {};
    expect(fields).toMatchObject({ approver: bo, for: ann });
    const listed = async (email: string) =>
      (await (await as(email)).get('/delegations')).body.delegations.length;
    expect([await listed(ann), await listed(bo), await listed(cy)]).toEqual([1, 1, 0]);
    expect((await (await as(cy)).request('DELETE', `/delegations/${id}`)).status).toBe(404);
    expect((await (await as(ann)).request('DELETE', `/delegations/${id}`)).status).toBe(200);
    expect(await decide('t2')).toBe(403);
    const events = agent.audit().filter(({ event }) => event.startsWith('delegation_'));
    const facts = { id, from: ann, to: bo, until: soon };
    expect(events.map(({ event, fields: of }) => [event, of])).toEqual([
      ['delegation_given', facts],
      ['delegation_ended', facts],
    ]);
  });

  it("ends the delegate's remembered approvals with it", async () => {
    const { agent, as } = await agentOf();
    const rita = await as('rita@example.com');
    const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
    const { id } = (await (await as(ann)).post('/delegations', { to: bo, until: soon })).body;
    void rita.send('t1', script).catch(() => undefined);
    await reached(rita, 't1', 'deferred');
    const remember = { scope: 'caller', for: '1h', uses: 5 };
    await (await as(bo)).post('/tasks/t1/decisions', { decision: 'approve', remember });
    await reached(rita, 't1', 'completed');
    await rita.send('t2', script);
    await reached(rita, 't2', 'completed');
    expect((await (await as(bo)).get('/grants')).body.grants).toMatchObject([
      { approver: bo, for: ann, uses_left: 4 },
    ]);
    expect((await (await as(cy)).get('/grants')).body.grants).toEqual([]);
    await (await as(ann)).request('DELETE', `/delegations/${id}`);
    void rita.send('t3', script).catch(() => undefined);
    await reached(rita, 't3', 'deferred');
    expect(agent.folder.paid).toHaveLength(2);
  });

  it.each<[string, object, number, string]>([
    ['oneself', { to: ann, until: soon }, 400, 'no one can delegate to oneself; name someone else'],
    [
      'a past time',
      { to: bo, until: '2001-01-01T00:00:00Z' },
      400,
      'until is over already; name a later time',
    ],
    ['too long', { to: bo, until }, 400, 'a delegation lasts at most a year; name an earlier time'],
    ['no email', { to: 'bo', until: soon }, 400, 'from and to must be emails'],
    [
      'another person',
      { from: cy, to: bo, until: soon },
      403,
      'a person delegates for oneself only',
    ],
    [
      'no time',
      { to: bo, until: 'tomorrow' },
      400,
      'the body must be {"to": EMAIL, "until": TIME} with a time such as 2026-12-27T09:00:00Z',
    ],
  ])('refuses %s', async (_, body, status, error) => {
    const { as } = await agentOf();
    expect(await (await as(ann)).post('/delegations', body)).toMatchObject({
      status,
      body: { error },
    });
    expect((await (await as(ann)).get('/delegations')).body).toEqual({ delegations: [] });
  });

  it('refuses a circle, also when both halves arrive at once', async () => {
    const { agent, as } = await agentOf();
    const operator = agent.as(agent.token);
    const give = (from: string, to: string) =>
      operator.post('/delegations', { from, to, until: soon });
    expect((await give(ann, bo)).status).toBe(201);
    const both = await Promise.all([give(bo, cy), give(cy, ann)]);
    expect(both.map(({ status }) => status)).toEqual([201, 400]);
    expect(
      (
        await (
          await as(ann, { email_verified: false })
        ).post('/delegations', { to: bo, until: soon })
      ).status,
    ).toBe(403);
  });
});
