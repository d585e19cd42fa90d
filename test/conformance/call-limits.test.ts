import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { launchAgent, startTestAgent, type TestAgent, textOf } from '../helpers/test-agent.ts';

const refund = {
  type: 'object',
  properties: { order_id: { type: 'string' }, amount: { type: 'number' } },
  required: ['order_id', 'amount'],
};

const to = 'channel:console:*';

const daily = { tools: ['issue_refund'], amount: 'args.amount', per: '24h', max: 5000 };

/** Starts a gate with these rules that is closed after the test. */
function startGate(security: object): Promise<TestAgent> {
  const gate = { tools: { issue_refund: { schema: refund } }, outcome_within: '2h' };
  return startTestAgent({ gate, security } as ServiceSettings);
}

let asked = 0;

/** Asks for a refund in a session of its own. */
function ask(agent: TestAgent, amount: unknown, order = `A-${(asked += 1)}`) {
  const session = `s-${(asked += 1)}`;
  const call = { tool: 'issue_refund', args: { order_id: order, amount } };
  return agent.post('/holds', { key: session, session, ...call });
}

const decide = (agent: TestAgent, id: string, decision = 'approve') =>
  agent.post(`/holds/${id}/decisions`, { decision, note: '' });

const countOf = (answers: { body: { status: string } }[]) =>
  Object.fromEntries(
    Object.entries(Object.groupBy(answers, ({ body }) => body.status)).map(([status, all]) => [
      status,
      all?.length,
    ]),
  );

describe('a limit that denies', () => {
  const limits = { refunds_a_day: { ...daily, over: 'deny' } };

  it('lets only as many calls at once run as fit, and logs each', async () => {
    const agent = await startGate({ limits });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(agent, 2000)));
    expect(countOf(answers)).toEqual({ allowed: 2, denied: 8 });
    const denied = answers.find(({ body }) => body.status === 'denied');
    expect(denied?.body.reason).toBe(
      'denied by the limit refunds_a_day: the call would exceed its maximum of 5000',
    );
    expect(agent.audit(denied?.body.hold_id).map(({ event }) => event)).toContain('limit_reached');
    const allowed = answers.find(({ body }) => body.status === 'allowed');
    expect(
      agent.audit(allowed?.body.hold_id).find(({ event }) => event === 'limit_reserved')?.fields,
    ).toMatchObject({ limits: [{ name: 'refunds_a_day', amount: '2000' }] });
  });

  it('gives back what a call reserved that did not run, and counts a failed one', async () => {
    const agent = await startGate({ limits });
    const first = await ask(agent, 5000);
    await agent.post(`/holds/${first.body.hold_id}/outcome`, { status: 'not_run' });
    const second = await ask(agent, 5000);
    await agent.post(`/holds/${second.body.hold_id}/outcome`, { status: 'failed', error: 'x' });
    const third = await ask(agent, 1);
    expect([first, second, third].map(({ body }) => body.status)).toEqual([
      'allowed',
      'allowed',
      'denied',
    ]);
    expect(agent.audit(first.body.hold_id).map(({ event }) => event)).toContain('limit_returned');
  });

  it('denies the second of two approved calls that together exceed it', async () => {
    const defer = { enabled: true, tools: { issue_refund: { to, timeout: '1h' } } };
    const agent = await startGate({ defer, limits });
    const held = [await ask(agent, 3000), await ask(agent, 3000)];
    const ids = held.map(({ body }) => body.hold_id);
    await Promise.all(ids.map((id) => decide(agent, id)));
    const ended = await Promise.all(ids.map((id) => agent.get(`/holds/${id}`)));
    expect(countOf(ended)).toEqual({ approved: 1, denied: 1 });
  });

  it('denies an amount that cannot be added', async () => {
    const agent = await startGate({ limits });
    expect(countOf([await ask(agent, -1)])).toEqual({ denied: 1 });
    expect(countOf([await ask(agent, 5000)])).toEqual({ allowed: 1 });
  });
});

describe('a limit that asks', () => {
  const limits = { refunds_a_day: { ...daily, to, timeout: '1h' } };

  it('holds calls beyond it, shows what is used, and runs one that its approver releases', async () => {
    const agent = await startGate({ limits });
    await ask(agent, 4900);
    const { body } = await ask(agent, 200);
    expect(body.status).toBe('pending');
    const [waiting] = (await agent.get('/deferrals')).body.deferrals;
    expect(waiting.limits).toEqual([
      expect.objectContaining({ name: 'refunds_a_day', over: true }),
    ]);
    expect((await decide(agent, body.hold_id)).status).toBe(200);
    expect((await agent.get(`/holds/${body.hold_id}`)).body.status).toBe('approved');
    expect((await ask(agent, 1)).body.status).toBe('pending');
  });

  it('asks again about an approved call if the limit was reached after its approver looked', async () => {
    const defer = { enabled: true, tools: { issue_refund: { to, timeout: '1h' } } };
    const agent = await startGate({ defer, limits });
    const [one, other] = [await ask(agent, 3000), await ask(agent, 3000)];
    await decide(agent, one.body.hold_id);
    await decide(agent, other.body.hold_id);
    expect((await agent.get(`/holds/${other.body.hold_id}`)).body.status).toBe('pending');
    const [waiting] = (await agent.get('/deferrals')).body.deferrals;
    expect(waiting).toMatchObject({ task_id: other.body.hold_id, limits: [{ over: true }] });
    await decide(agent, other.body.hold_id);
    expect((await agent.get(`/holds/${other.body.hold_id}`)).body.status).toBe('approved');
  });
});

describe('a call whose tool has other approvers than what holds it', () => {
  const defer = { enabled: true, tools: { issue_refund: { to, approvers: ['ops@example.com'] } } };
  const own = { to, approvers: ['fin@example.com'] };

  it.each([
    ['over a limit', { limits: { refunds_a_day: { ...daily, max: 10, ...own } } }],
    ['that repeats an effect', { effects: { issue_refund: { key: 'refund', ...own } } }],
  ])('is released, %s, by the approvers that it shows and by no others', async (_, bounds) => {
    const agent = await startGate({ defer, ...bounds });
    const decideAs = (id: string, who: string) =>
      agent.post(`/tasks/${id}/decisions`, { decision: 'approve', approver_email: who });
    const under = (await ask(agent, 5)).body.hold_id;
    expect((await decideAs(under, 'fin@example.com')).status).toBe(403);
    expect((await decideAs(under, 'ops@example.com')).status).toBe(200);
    const beyond = (await ask(agent, 50)).body.hold_id;
    const [waiting] = (await agent.get('/deferrals')).body.deferrals;
    expect(waiting.approvers).toEqual(['fin@example.com']);
    expect((await decideAs(beyond, 'ops@example.com')).status).toBe(403);
    expect((await decideAs(beyond, 'fin@example.com')).status).toBe(200);
    expect((await agent.get(`/holds/${beyond}`)).body.status).toBe('approved');
  });
});

describe('an approved call that its program fetches later', () => {
  const defer = { enabled: true, tools: { issue_refund: { to, timeout: '1h' } } };
  const fetched = (agent: TestAgent, ids: string[]) =>
    Promise.all(ids.map((id) => agent.get(`/holds/${id}`)));

  it('counts for a limit that came into force after its approval', async () => {
    const agent = await startGate({ defer });
    const held = await Promise.all([ask(agent, 3000), ask(agent, 3000)]);
    const ids = held.map(({ body }) => body.hold_id);
    for (const id of ids) await decide(agent, id);
    const file = join(agent.folder.path, 'service.yaml');
    const settings = JSON.parse(readFileSync(file, 'utf8'));
    settings.security.limits = { refunds: { ...daily, over: 'deny' } };
    writeFileSync(file, JSON.stringify(settings));
    await vi.waitUntil(async () => (await agent.get('/limits')).body.limits.length > 0, patient);
    expect(countOf(await fetched(agent, ids))).toEqual({ approved: 1, denied: 1 });
    expect((await agent.get('/limits')).body.limits).toMatchObject([{ reserved: 3000 }]);
  });
});

describe('an effect', () => {
  const effect = { key: 'refund:{args.order_id}', to, timeout: '1h' };

  it('is held when another session asks for it again, and the approver sees the first call', async () => {
    const agent = await startGate({ effects: { issue_refund: effect } });
    const first = await ask(agent, 10, 'A-2001');
    const second = await ask(agent, 10, 'A-2001');
    expect([first, second].map(({ body }) => body.status)).toEqual(['allowed', 'pending']);
    const [waiting] = (await agent.get('/deferrals')).body.deferrals;
    expect(waiting.first).toMatchObject({ task_id: first.body.hold_id, key: 'refund:A-2001' });
  });

  it('is denied with the name of the first call, at ten requests at once', async () => {
    const agent = await startGate({ effects: { issue_refund: { ...effect, repeat: 'deny' } } });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask(agent, 10, 'A-2002')));
    expect(countOf(answers)).toEqual({ allowed: 1, denied: 9 });
    const first = answers.find(({ body }) => body.status === 'allowed')?.body.hold_id;
    const denied = answers.find(({ body }) => body.status === 'denied');
    expect(denied?.body.reason).toContain(`of task ${first} has the same effect refund:A-2002`);
  });

  it('is free again after a failed call', async () => {
    const agent = await startGate({ effects: { issue_refund: effect } });
    const { body } = await ask(agent, 10, 'A-2003');
    await agent.post(`/holds/${body.hold_id}/outcome`, { status: 'failed', error: 'no account' });
    expect((await ask(agent, 10, 'A-2003')).body.status).toBe('allowed');
  });
});

const skill = `---
name: till
description: The tools that tests use.
---
## Tool: pay

Pays.

\`\`\`json
{"type": "object", "properties": {"order": {"type": "string"}, "amount": {"type": "integer"}},
 "required": ["order"], "additionalProperties": false}
\`\`\`
`;

/** Starts an agent with a tool `pay` and these rules. */
async function startTill(security: object): Promise<TestAgent> {
  const folder = new AgentFolder({ security });
  writeFileSync(join(folder.path, 'SKILL.md'), skill);
  const agent = await launchAgent({}, { folder });
  onTestFinished(() => agent.close());
  return agent;
}

const pay = (agent: TestAgent, id: string, args: object) =>
  agent.send(id, [{ tool: 'pay', args }, { say: 'got {result}' }]);

const startsOf = (agent: TestAgent, id: string) =>
  agent.audit(id).filter(({ fields }) => fields?.['phase'] === 'start');

describe('an effect of a tool that the agent runs', () => {
  const effects = { pay: { key: 'pay:{args.order}', repeat: 'join' } };

  it('runs once, and an equal call of another task receives its result', async () => {
    const agent = await startTill({ effects });
    const args = { order: 'A-1', amount: 5 };
    const answers = await Promise.all(['t1', 't2'].map((id) => pay(agent, id, args)));
    const texts = answers.map(textOf);
    expect(texts[0]).toMatch(/^got /);
    expect(texts[1]).toBe(texts[0]);
    expect(['t1', 't2'].flatMap((id) => startsOf(agent, id))).toHaveLength(1);
    const second = await pay(agent, 't3', args);
    expect(textOf(second)).toBe(texts[0]);
    expect(agent.audit('t3').map(({ event }) => event)).not.toContain('tool_exec');
  });

  it('is held if the arguments differ', async () => {
    const agent = await startTill({ effects });
    await pay(agent, 't1', { order: 'A-1', amount: 5 });
    const held = pay(agent, 't2', { order: 'A-1', amount: 6 });
    const { metadata } = await agent.reached('t2', 'deferred');
    expect(metadata.deferral.first).toMatchObject({ task_id: 't1', key: 'pay:A-1' });
    await agent.post('/tasks/t2/cancel', {});
    await held;
  });
});
