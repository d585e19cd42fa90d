import type { JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  agentResource,
  type IdentityProvider,
  startIdentityProvider,
} from '../helpers/identity-provider.ts';
import { reached, startTestAgent, textOf } from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

const kate = 'kate@example.com';

/** An agent whose callers sign in at an issuer, and whose approver is whom the token names. */
async function startBoundAgent(rule: object) {
  const provider = await startIdentityProvider();
  const pay = { to: 'channel:console:desk', timeout: '5m', ...rule };
  const agent = await startTestAgent({
    auth: {
      required: true,
      providers: [
        {
          type: 'oidc',
          name: 'sso',
          settings: { issuer: provider.issuer, audience: agentResource },
        },
      ],
    },
    security: { defer: { enabled: true, bind_approver: true, tools: { pay } } },
  });
  const as = async (claims: JWTPayload) => agent.as(await signed(provider, claims));
  return { agent, as };
}

function signed(provider: IdentityProvider, claims: JWTPayload): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const { issuer: iss } = provider;
  return provider.forge({
    iss,
    aud: agentResource,
    sub: 'u-1',
    iat: now,
    exp: now + 300,
    ...claims,
  });
}

describe('a decision under bind_approver', () => {
  it.each<[string, JWTPayload]>([
    ['no email', {}],
    ['an unverified email', { email: kate, email_verified: false }],
    ['the email of another person', { email: 'mallory@example.com', email_verified: true }],
  ])('is 403 from a token with %s, with any asserted email', async (_, claims) => {
    const { agent, as } = await startBoundAgent({ approvers: [kate] });
    const caller = await as(claims);
    const held = caller.send('t1', script);
    await reached(caller, 't1', 'deferred');
    for (const said of [{}, { approver_email: kate }, { approver: kate, approver_email: kate }]) {
      for (const decision of ['approve', 'reject']) {
        expect(await caller.decide('t1', { decision, ...said })).toMatchObject({
          status: 403,
          body: { error: 'approver not authorized', code: 'approver_not_authorized' },
        });
      }
    }
    expect(agent.folder.paid).toEqual([]);
    const own = await as({ sub: 'u-2', email: ' Kate@Example.com ', email_verified: true });
    const other = { decision: 'approve', approver_email: 'bob@example.com' };
    expect((await own.decide('t1', other)).status).toBe(403);
    expect(await own.decide('t1', { decision: 'approve', approver: 'Bob' })).toMatchObject({
      status: 200,
      body: { approver: 'Kate@Example.com' },
    });
    expect(textOf(await held)).toBe('paid');
    expect(
      agent.audit('t1').findLast(({ event }) => event === 'task_deferred_decision'),
    ).toMatchObject({
      fields: {
        approver: 'Kate@Example.com',
        vouched_by: 'token:sso',
        provider: 'sso',
        user_id: 'u-2',
      },
    });
  });

  it('needs a verified email without a list, too', async () => {
    const { as } = await startBoundAgent({});
    const nameless = await as({});
    const held = nameless.send('t1', script);
    await reached(nameless, 't1', 'deferred');
    const claim = { decision: 'approve', approver_email: kate };
    expect((await nameless.decide('t1', claim)).status).toBe(403);
    const anybody = await as({ sub: 'u-2', email: 'bob@example.com', email_verified: true });
    expect((await anybody.decide('t1', { decision: 'approve' })).body.approver).toBe(
      'bob@example.com',
    );
    expect(textOf(await held)).toBe('paid');
  });
});
