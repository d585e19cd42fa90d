import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JWTPayload } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { agentResource, startIdentityProvider } from '../helpers/identity-provider.ts';
import { patient } from '../helpers/patient.ts';
import { reached, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

const [ann, bo, cy] = ['ann@example.com', 'bo@example.com', 'cy@example.com'];

/** An agent with these people and this rule for `pay`, whose callers sign in at an issuer. */
async function agentOf(rule: object, people: object = {}, isBound = true) {
  const provider = await startIdentityProvider();
  const settings = { issuer: provider.issuer, audience: agentResource };
  const sso = { type: 'oidc', name: 'sso', groups_claim: 'groups', settings };
  const pay = { to: 'channel:console:desk', timeout: '5m', ...rule };
  const folder = new AgentFolder({
    auth: { required: true, providers: [sso] },
    server: { task_access: 'requester' },
    security: { defer: { enabled: true, bind_approver: isBound, tools: { pay } } },
  });
  write(folder, people);
  const agent = await startTestAgent({}, { folder });
  const now = Math.floor(Date.now() / 1_000);
  const as = async (email: string, claims: JWTPayload = {}) =>
    agent.as(
      await provider.forge({
        ...{ iss: provider.issuer, aud: agentResource, iat: now, exp: now + 300 },
        ...{ sub: email, email, email_verified: true, ...claims },
      }),
    );
  const requester = await as('rita@example.com');
  const held = async (id: string): Promise<void> => {
    void requester.send(id, script).catch(() => undefined);
    await reached(requester, id, 'deferred');
  };
  const decide = async (id: string, email: string, claims: JWTPayload = {}, decision = 'approve') =>
    (await (await as(email, claims)).post(`/tasks/${id}/decisions`, { decision })).status;
  return { agent, as, held, decide, requester };
}

function write(folder: AgentFolder, people: object): void {
  writeFileSync(join(folder.path, 'people.yaml'), JSON.stringify(people));
}

const decisionOf = (agent: TestAgent, id: string) =>
  agent.audit(id).findLast(({ event }) => event === 'task_deferred_decision')?.fields;

describe('approvers by group', () => {
  const rule = { approvers: ['group:finance', 'claim:role=auditor'] };
  const people = { groups: { finance: [ann] } };

  it('count no approval of a person who has left the group', async () => {
    const { agent, held, decide } = await agentOf(
      { approvers: ['group:finance'], quorum: 2 },
      {
        groups: { finance: [ann, bo, cy] },
      },
    );
    await held('left');
    expect(await decide('left', ann)).toBe(200);
    write(agent.folder, { groups: { finance: [bo, cy] } });
    await vi.waitFor(async () => expect(await decide('left', ann)).toBe(404), {
      ...patient,
      interval: 1_000,
    });
    expect(await decide('left', bo)).toBe(200);
    expect((await agent.as(agent.token).get('/tasks/left')).body.status.state).toBe('deferred');
    expect(await decide('left', cy)).toBe(200);
    await reached(agent.as(agent.token), 'left', 'completed');
  });

  it('can name the provider of a group', async () => {
    const { held, decide } = await agentOf({ approvers: ['group:sso/finance'] });
    await held('named');
    expect(await decide('named', bo, { groups: ['other'] })).toBe(404);
    expect(await decide('named', bo, { groups: ['sso/finance'] })).toBe(404);
    expect(await decide('named', bo, { groups: ['finance'] })).toBe(200);
  });

  it.each<[string, string, JWTPayload, number]>([
    ['a member by people.yaml', ann, {}, 200],
    ['a member by the token', bo, { groups: ['finance'] }, 200],
    ['a person with the claim', bo, { role: 'auditor' }, 200],
    ['a person with the claim in a list', bo, { role: ['clerk', 'auditor'] }, 200],
    ['a person whose claims are strings, not lists', bo, { groups: 'finance' }, 200],
    ['a claim of groups that is a map', bo, { groups: { finance: true } }, 404],
    ['a claim of groups with another value in it', bo, { groups: ['finance', 7] }, 404],
    ['a claim that is a map', bo, { role: { auditor: true } }, 404],
    ['a stranger', bo, { groups: ['legal'], role: 'clerk' }, 404],
    ['a group of another name', bo, { groups: ['Finance', 'group:finance'] }, 404],
  ])('may decide: %s', async (_, email, claims, status) => {
    const { held, decide } = await agentOf(rule, people);
    await held('t1');
    expect(await decide('t1', email, claims)).toBe(status);
  });

  it('list waiting calls for members, with the whole call', async () => {
    const { held, as } = await agentOf(rule, people);
    await held('t1');
    const seen = async (email: string, claims: JWTPayload = {}) => {
      const { deferrals } = (await (await as(email, claims)).get('/deferrals')).body;
      return deferrals.map(({ approvers }: { approvers: string[] }) => approvers);
    };
    expect([await seen(ann), await seen(bo, { groups: ['finance'] }), await seen(bo)]).toEqual([
      ...[[rule.approvers], [rule.approvers], []],
    ]);
  });

  it('exclude a person who was removed from the group', async () => {
    const { agent, held, decide } = await agentOf(rule, people);
    await held('t1');
    write(agent.folder, { groups: { finance: [bo] } });
    const loaded = () => agent.audit().filter(({ event }) => event === 'people_loaded').length;
    await vi.waitUntil(() => loaded() === 2, patient);
    expect([await decide('t1', ann), await decide('t1', bo)]).toEqual([404, 200]);
  });

  it('ignore the groups of a token for another email', async () => {
    const { held, as } = await agentOf(rule, { groups: { finance: [], other: [bo] } }, false);
    await held('t1');
    const member = await as(bo, { groups: ['finance'] });
    const stated = { decision: 'approve', approver_email: 'eve@example.com' };
    expect((await member.post('/tasks/t1/decisions', stated)).status).toBe(403);
    expect((await member.post('/tasks/t1/decisions', { decision: 'approve' })).status).toBe(200);
  });
});

describe('a quorum of groups', () => {
  const rule = { quorum: { 'group:finance': 1, 'group:legal': 1 } };
  const people = { groups: { finance: [ann, bo], legal: [bo, cy] } };

  it('needs a person of each, and counts no one twice', async () => {
    const { agent, held, decide, as } = await agentOf(rule, people);
    await held('t1');
    expect([await decide('t1', bo), await decide('t1', bo)]).toEqual([200, 200]);
    const { deferrals } = (await (await as(ann)).get('/deferrals')).body;
    expect(deferrals).toMatchObject([
      {
        ...{ approvers: ['group:finance', 'group:legal'], quorum: 2 },
        quorum_of: { 'group:finance': 1, 'group:legal': 1 },
        approvals: [{ approver: bo, as: ['group:finance', 'group:legal'] }],
      },
    ]);
    expect(decisionOf(agent, 't1')?.['as']).toEqual(['group:finance', 'group:legal']);
    expect(agent.folder.paid).toHaveLength(0);
    expect(await decide('t1', ann)).toBe(200);
    await vi.waitUntil(() => agent.folder.paid.length === 1, patient);
    expect(decisionOf(agent, 't1')?.['as']).toEqual(['group:finance']);
  });

  it('is not reached by two people of one group', async () => {
    const { agent, held, decide } = await agentOf(rule, {
      groups: { finance: [ann, bo], legal: [cy] },
    });
    await held('t1');
    expect([await decide('t1', ann), await decide('t1', bo)]).toEqual([200, 200]);
    expect(agent.folder.paid).toHaveLength(0);
    expect(await decide('t1', cy)).toBe(200);
    await vi.waitUntil(() => agent.folder.paid.length === 1, patient);
  });
});

describe('a delegation', () => {
  const away = (person: string, delegate: string) => ({
    away: [{ person, until: '2100-01-01', delegate }],
  });

  it('lets a person decide for another one, which the log records', async () => {
    const { agent, held, decide, requester } = await agentOf({ approvers: [ann] }, away(ann, bo));
    await held('t1');
    expect(await decide('t1', bo)).toBe(200);
    expect(decisionOf(agent, 't1')).toMatchObject({ approver: bo, for: ann, method: 'token' });
    await vi.waitUntil(() => agent.folder.paid.length === 1, patient);
    expect((await requester.get('/tasks/t1')).status).toBe(200);
  });

  it('does not let a requester decide through another person', async () => {
    const rule = { approvers: ['rita@example.com', ann], four_eyes: true };
    const { held, decide } = await agentOf(rule, away('rita@example.com', bo));
    await held('t1');
    expect(await decide('t1', bo)).toBe(403);
    expect(await decide('t1', ann)).toBe(200);
  });
});

it('the person on call is asked', async () => {
  const rotation = { people: [bo], starts: '2026-01-05T09:00', zone: 'Europe/Berlin' };
  const { held, decide } = await agentOf(
    { approvers: ['oncall:ops'] },
    { oncall: { ops: rotation } },
  );
  await held('t1');
  expect([await decide('t1', ann), await decide('t1', bo)]).toEqual([404, 200]);
});

describe('a change of people.yaml', () => {
  const rotation = { people: [bo], starts: '2026-01-05T09:00' };
  const rule = { approvers: ['oncall:ops'] };
  const errorsOf = ({ log }: TestAgent) =>
    log.filter(({ level }) => level === 'error').map(({ message }) => message);

  it('that leaves a rule without approvers is applied, and is reported', async () => {
    const { agent, held, decide } = await agentOf(rule, { oncall: { ops: rotation } });
    await held('t1');
    write(agent.folder, {});
    const loaded = () => agent.audit().filter(({ event }) => event === 'people_loaded').length;
    await vi.waitUntil(() => loaded() === 2 && errorsOf(agent).length > 0, patient);
    expect(errorsOf(agent)).toEqual([
      expect.stringMatching(
        /^policy: service\.yaml:\d+:\d+: people\.yaml has no rotation of this name; the rules before it stay in force$/,
      ),
    ]);
    expect(await decide('t1', bo)).toBe(404);
  });

  it('with a mistake changes nothing, and is reported', async () => {
    const { agent, held, decide } = await agentOf(rule, { oncall: { ops: rotation } });
    await held('t1');
    const away = [{ person: bo, until: '2100-01-01', delegate: bo }];
    write(agent.folder, { oncall: { ops: rotation }, away });
    await vi.waitUntil(() => errorsOf(agent).length > 1, patient);
    const mistake = 'no one can delegate to oneself; name someone else';
    expect(
      errorsOf(agent)
        .map((line) => line.replace(/:1:\d+:/, ':'))
        .toSorted(),
    ).toEqual([
      `people: people.yaml: ${mistake}; the people before it stay in force`,
      `policy: people.yaml: ${mistake}; the rules before it stay in force`,
    ]);
    expect(await decide('t1', bo)).toBe(200);
  });
});
