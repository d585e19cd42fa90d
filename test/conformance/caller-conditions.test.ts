import type { JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import { agentResource, startIdentityProvider } from '../helpers/identity-provider.ts';
import { startTestAgent, textOf } from '../helpers/test-agent.ts';

const to = 'channel:console:desk';
const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

/** An agent whose callers sign in at an issuer that names groups, with these rules for `pay`. */
async function agentWith(rules: object[], groups_claim = 'groups') {
  const provider = await startIdentityProvider();
  const settings = { issuer: provider.issuer, audience: agentResource };
  const sso = { type: 'oidc', name: 'sso', groups_claim, settings };
  const agent = await startTestAgent({
    auth: { required: true, providers: [sso] },
    security: { defer: { enabled: true, tools: { pay: rules } } },
  });
  const now = Math.floor(Date.now() / 1_000);
  const as = async (claims: JWTPayload) =>
    agent.as(
      await provider.forge({
        ...{ iss: provider.issuer, aud: agentResource, sub: 'u-1', iat: now, exp: now + 300 },
        ...claims,
      }),
    );
  return { agent, as };
}

describe('a condition on groups', () => {
  const rules = [
    { when: '"finance" in caller.groups', allow: true },
    { to, timeout: '20ms' },
  ];

  it.each<[string, JWTPayload, string]>([
    ['allows a member', { groups: ['staff', 'finance'] }, 'paid'],
    ['allows the member of one group', { groups: 'finance' }, 'paid'],
    ['holds the call of another group', { groups: ['staff'] }, 'defer'],
    ['holds the call of a caller without groups', {}, 'defer'],
    ['ignores a list with another value', { groups: ['finance', 7] }, 'defer'],
    ['ignores a string with commas', { groups: 'staff,finance' }, 'defer'],
    ['ignores an object', { groups: { finance: true } }, 'defer'],
    ['ignores other claims', { roles: ['finance'] }, 'defer'],
    ['ignores a list that is too long', { groups: Array(501).fill('finance') }, 'defer'],
  ])('%s', async (_, claims, text) => {
    const { as } = await agentWith(rules);
    expect(textOf(await (await as(claims)).send('t1', pay))).toMatch(new RegExp(`^${text}`));
  });

  it('finds a nested claim by its path', async () => {
    const { as } = await agentWith(rules, 'realm_access.roles');
    const caller = await as({ realm_access: { roles: ['finance'] } });
    expect(textOf(await caller.send('t1', pay))).toBe('paid');
  });
});

describe('a condition on claims', () => {
  const rules = [
    {
      when: 'caller.claims.level >= 3 && caller.claims["cost centre"] == "zone-north"',
      allow: true,
    },
    { to, timeout: '20ms' },
  ];

  it.each<[string, JWTPayload, string]>([
    ['allows a proven value', { level: 3, 'cost centre': 'zone-north' }, 'paid'],
    ['holds another value', { level: 2, 'cost centre': 'zone-north' }, 'defer'],
    ['holds without the claim', { level: 3 }, 'defer'],
    ['holds for a rounded number', { level: 2 ** 60, 'cost centre': 'zone-north' }, 'defer'],
    ['holds for a string', { level: '3', 'cost centre': 'zone-north' }, 'defer'],
  ])('%s', async (_, claims, text) => {
    const { as } = await agentWith(rules);
    expect(textOf(await (await as(claims)).send('t1', pay))).toMatch(new RegExp(`^${text}`));
  });

  it('ignores an unverified email', async () => {
    const email = 'ann@example.com';
    const { as } = await agentWith([
      { when: `caller.claims.email == "${email}"`, allow: true },
      { to, timeout: '20ms' },
    ]);
    const send = async (id: string, claims: JWTPayload) =>
      textOf(await (await as({ email, ...claims })).send(id, pay));
    expect(await send('t1', { email_verified: true })).toBe('paid');
    expect(await send('t2', { email_verified: false })).toMatch(/^defer/);
  });

  it('has only the claims that rules use stored and shown', async () => {
    const { agent, as } = await agentWith(rules);
    const claims = { level: 3, 'cost centre': 'zone-north', secret: 'sesame', groups: ['covert'] };
    const caller = await as(claims);
    await caller.send('t1', pay);
    const task = await caller.get('/tasks/t1?decisions=true');
    expect(JSON.stringify([task.body, agent.audit()])).not.toMatch(/sesame|covert|zone-north/);
  });
});

describe('a condition on the depth of a task', () => {
  it('reads the number of agents that the request names, or zero', async () => {
    const agent = await startTestAgent({
      security: {
        defer: {
          enabled: true,
          tools: {
            pay: [
              { when: 'task.depth >= 2', to, timeout: '20ms' },
              { when: 'true', allow: true },
            ],
          },
        },
      },
    });
    const send = async (id: string, depth?: string) => {
      const headers = depth === undefined ? {} : { 'x-invocation-depth': depth };
      const parts = [{ kind: 'data', data: { script: pay } }];
      const message = { role: 'user', parts, messageId: 'm1' };
      return textOf(await agent.post('/tasks/send', { task: { id, message } }, headers));
    };
    expect(await send('t1')).toBe('paid');
    expect(await send('t2', '1')).toBe('paid');
    expect(await send('t3', '2')).toMatch(/^defer/);
    expect(await send('t4', '-3')).toBe('paid');
    expect(agent.log).toContainEqual(
      expect.objectContaining({ fields: { headers: ['X-Invocation-Depth'] } }),
    );
  });
});
