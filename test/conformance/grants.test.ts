import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const schema = {
  type: 'object',
  properties: { amount: { type: 'number' }, to: { type: 'string' } },
  required: ['amount'],
};

const pay = { to: 'channel:console:*' };
const settings = (rule: object = pay, defer: object = {}) =>
  ({
    gate: { tools: { pay: { schema }, mail: {} } },
    security: {
      defer: {
        ...{ enabled: true, remember: { max_time: '1h', max_uses: 3 } },
        ...{ tools: { pay: rule, mail: pay }, ...defer },
      },
    },
  }) as ServiceSettings;

const equal = { scope: 'caller', for: '1h', uses: 3 };

/** Asks for a call; returns its status and id. */
function asking(agent: TestAgent) {
  let key = 0;
  return async (args: object, more: object = {}) => {
    key += 1;
    const body = { key: `k-${key}`, tool: 'pay', args, ...more };
    const { status, hold_id: id } = (await agent.post('/holds', body)).body;
    return { status, id } as { status: string; id: string };
  };
}

const approve = (agent: TestAgent, id: string, remember?: object) =>
  agent.post(`/tasks/${id}/decisions`, { decision: 'approve', approver: 'ann', remember });

const grantsOf = async (agent: TestAgent) => (await agent.get('/grants')).body.grants;

describe('a remembered approval', () => {
  it('releases equal calls as often as configured, and each use is logged', async () => {
    const agent = await startTestAgent(settings());
    const ask = asking(agent);
    const { id } = await ask({ amount: 5 });
    expect((await approve(agent, id, { ...equal, uses: 2 })).status).toBe(200);
    const [grant] = await grantsOf(agent);
    expect(grant).toMatchObject({ tool: 'pay', scope: 'caller', approver: 'ann', uses_left: 2 });
    const statuses = [];
    const ids = [];
    for (const args of [{ amount: 6 }, { amount: 5 }, { amount: 5 }, { amount: 5 }]) {
      const asked = await ask(args);
      statuses.push(asked.status);
      ids.push(asked.id);
    }
    expect(statuses).toEqual(['pending', 'allowed', 'allowed', 'pending']);
    expect(await grantsOf(agent)).toEqual([]);
    const events = agent.audit(ids[1]).map(({ event, fields }) => [event, fields?.['grant_id']]);
    expect(events).toContainEqual(['grant_used', grant.id]);
    expect(agent.audit(ids[1]).find(({ event }) => event === 'call_ruled')?.fields).toMatchObject({
      ...{ decision: 'allow', layer: 'defer', reason: 'released by a grant of ann' },
    });
    expect(agent.audit().find(({ event }) => event === 'grant_given')?.fields).toMatchObject({
      ...{ grant_id: grant.id, tool: 'pay', approver: 'ann', uses_left: 2 },
      deferral_id: expect.any(String),
    });
  });

  it('is in the receipt of a call that it released', async () => {
    const agent = await startTestAgent({ ...settings(), audit: { sign: true } });
    const ask = asking(agent);
    await approve(agent, (await ask({ amount: 5 })).id, equal);
    const [grant] = await grantsOf(agent);
    const { id } = await ask({ amount: 5 });
    await agent.post(`/holds/${id}/outcome`, { status: 'succeeded' });
    const path = (await agent.get(`/holds/${id}`)).body.receipt;
    const claims = decodeJwt(String((await agent.get(path)).body));
    const at = expect.any(String);
    expect(claims).toMatchObject({ grant: { grant_id: grant.id, approver: 'ann', at } });
    expect(claims).not.toHaveProperty('deferral_id');
  });

  it('releases the calls of a condition, and no others', async () => {
    const agent = await startTestAgent(settings());
    const ask = asking(agent);
    const { id } = await ask({ amount: 5 });
    await approve(agent, id, { ...equal, when: 'args.amount <= 10.0' });
    const statuses = [];
    for (const amount of [10, 11, 1]) statuses.push((await ask({ amount })).status);
    expect(statuses).toEqual(['allowed', 'pending', 'allowed']);
    expect((await ask({ amount: 1 }, { tool: 'mail' })).status).toBe('pending');
  });

  it.each<[string, object]>([
    ['equal arguments', equal],
    ['a condition', { ...equal, when: 'args.amount <= 10.0' }],
  ])('for %s counts in the folder of the approved call only', async (_, remember) => {
    const agent = await startTestAgent(settings());
    const ask = asking(agent);
    const { id } = await ask({ amount: 5 }, { cwd: '/app' });
    await approve(agent, id, remember);
    const statuses = [];
    for (const place of [{ cwd: '/prod' }, {}, { cwd: '/app' }]) {
      statuses.push((await ask({ amount: 5 }, place)).status);
    }
    expect(statuses).toEqual(['pending', 'pending', 'allowed']);
  });

  it('counts for its session only, if that was its scope', async () => {
    const agent = await startTestAgent(settings());
    const ask = asking(agent);
    const { id } = await ask({ amount: 5 }, { session: 's-1' });
    await approve(agent, id, { ...equal, scope: 'task' });
    const statuses = [];
    for (const session of ['s-2', 's-1', undefined]) {
      statuses.push((await ask({ amount: 5 }, { session })).status);
    }
    expect(statuses).toEqual(['pending', 'allowed', 'pending']);
  });

  it('is suspended by one rejection, and can be revoked', async () => {
    const agent = await startTestAgent(settings());
    const ask = asking(agent);
    await approve(agent, (await ask({ amount: 5 })).id, equal);
    const { id } = await ask({ amount: 50 });
    await agent.post(`/tasks/${id}/decisions`, { decision: 'reject' });
    expect((await ask({ amount: 5 })).status).toBe('pending');
    const [grant] = await grantsOf(agent);
    expect(grant.suspended).toBe(true);
    expect((await agent.request('DELETE', `/grants/${grant.id}`)).status).toBe(200);
    expect((await agent.request('DELETE', `/grants/${grant.id}`)).status).toBe(404);
    const events = agent.audit().map(({ event }) => event);
    expect(events.filter((event) => event.startsWith('grant_'))).toEqual([
      ...['grant_given', 'grant_suspended', 'grant_revoked'],
    ]);
  });

  it('survives a restart, and not a change of the rule', async () => {
    const folder = new AgentFolder(settings());
    const before = await startInFolder(folder);
    await approve(before, (await asking(before)({ amount: 5 })).id, equal);
    await before.stop();
    const agent = await startInFolder(folder);
    const ask = async (key: string) => {
      const body = { key, tool: 'pay', args: { amount: 5 } };
      return (await agent.post('/holds', body)).body.status;
    };
    expect(await ask('after')).toBe('allowed');
    const path = join(folder.path, 'service.yaml');
    const service = JSON.parse(readFileSync(path, 'utf8'));
    service.security.defer.tools.pay.timeout = '1h';
    const loaded = () => agent.audit().filter(({ event }) => event === 'policy_loaded').length;
    const count = loaded();
    writeFileSync(path, JSON.stringify(service));
    await vi.waitUntil(() => loaded() > count, patient);
    expect(await ask('changed')).toBe('pending');
    folder.remove();
  });
});

const never = 'no approval under this rule is remembered; leave remember out';

it.each<[string, object, object, string, ServiceSettings?]>([
  [
    'a longer time',
    {},
    { for: '2h' },
    'remember lasts at most 60 minutes under this rule; name a shorter time',
  ],
  [
    'more calls',
    {},
    { uses: 4 },
    'remember counts for at most 3 calls under this rule; name a smaller number',
  ],
  [
    'a condition that does not cover the call',
    {},
    { when: 'args.amount > 10.0' },
    'remember.when does not hold for this call; write a condition that covers it',
  ],
  ['an invalid condition', {}, { when: 'args.amuont > 1' }, 'remember.when cannot be used: '],
  [
    'history',
    {},
    { when: 'history.count("pay") == 0' },
    'remember.when cannot be used: it has no value',
  ],
  [
    'a rejection',
    { decision: 'reject' },
    {},
    'only an approval can be remembered; leave remember out',
  ],
  ['a rule that never remembers', {}, {}, never, settings({ ...pay, never_remember: true })],
  ['an agent that never remembers', {}, {}, never, settings(pay, { remember: undefined })],
  ['an unknown scope', {}, { scope: 'all' }, 'remember.scope must be {"scope": "task" or "caller"'],
  ['no time', {}, { for: 'ever' }, 'remember must be {"scope": "task" or "caller"'],
])('an approval with %s is refused, and nothing is decided', async (_, body, terms, error, own) => {
  const agent = await startTestAgent(own ?? settings());
  const { id } = await asking(agent)({ amount: 5 });
  const decision = { decision: 'approve', remember: { ...equal, ...terms }, ...body };
  const answer = await agent.post(`/tasks/${id}/decisions`, decision);
  expect([answer.status, answer.body.error.slice(0, error.length)]).toEqual([400, error]);
  expect((await agent.get(`/holds/${id}`)).body.status).toBe('pending');
  expect(await grantsOf(agent)).toEqual([]);
});
