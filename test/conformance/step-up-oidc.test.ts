import { createPublicKey } from 'node:crypto';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { ServiceSettings } from '../helpers/agent-folder.ts';
import {
  agentResource,
  type IdentityProvider,
  startIdentityProvider,
} from '../helpers/identity-provider.ts';
import { reached, startTestAgent } from '../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];

/** Settings under which `pay` demands `urn:high` of people who sign in at this issuer. */
function trusting({ issuer }: IdentityProvider): ServiceSettings {
  const settings = { issuer, audience: agentResource };
  return {
    security: { step_up: { enabled: true, tools: { pay: 'urn:high' } } },
    auth: { required: true, providers: [{ type: 'oidc', name: 'staff', settings }] },
  };
}

const body = {
  error: 'step_up_required',
  code: 'step_up_required',
  tool: 'pay',
  required_acr: 'urn:high',
  reason: 'acr "urn:low" does not satisfy "urn:high"',
};

describe('people who sign in with an OpenID Connect issuer', () => {
  it('are challenged at a low level and served after a sign-in at the high one', async () => {
    const provider = await startIdentityProvider();
    const agent = await startTestAgent(trusting(provider));
    const low = agent.as(await provider.signIn('ann', 'urn:low'));
    const refused = await low.send('t1', script);
    expect([refused.status, refused.body]).toEqual([401, body]);
    expect(refused.headers.get('www-authenticate')).toBe(
      'Bearer error="step_up_required", acr_values="urn:high"',
    );
    expect((await low.get('/tasks/t1')).body).toMatchObject({ status: { state: 'failed' } });
    expect(agent.folder.paid).toEqual([]);

    const high = agent.as(await provider.signIn('ann', 'urn:high'));
    const served = await high.send('t1', script);
    expect([served.status, served.body.status.state]).toEqual([200, 'completed']);
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('may use at a low level tools without a requirement', async () => {
    const provider = await startIdentityProvider();
    const agent = await startTestAgent(trusting(provider));
    const low = agent.as(await provider.signIn('ann', 'urn:low'));
    const answer = await low.send('t1', [{ say: 'hello' }]);
    expect([answer.status, answer.body.status.state]).toEqual([200, 'completed']);
  });

  it('can decide with the email of their token', async () => {
    const provider = await startIdentityProvider();
    const rule = { to: 'channel:console:desk', approvers: ['ann@example.com'] };
    const defer = { enabled: true, bind_approver: true, tools: { pay: rule } };
    const agent = await startTestAgent({ ...trusting(provider), security: { defer } });
    const ann = agent.as(await provider.signIn('ann', 'urn:low'));
    const bob = agent.as(await provider.signIn('bob', 'urn:low'));
    const held = bob.send('t1', script);
    await reached(ann, 't1', 'deferred');
    expect((await bob.decide('t1', { decision: 'approve' })).status).toBe(403);
    expect((await ann.decide('t1', { decision: 'approve' })).status).toBe(200);
    expect((await held).body.status.state).toBe('completed');
  });
});

describe('a refused token', () => {
  const unknown = 'the bearer token is unknown';
  const otherAudience = 'the token is for another audience; ask for one for this agent';
  const unsigned = 'the token is not signed in a way that is accepted here; sign in again';

  const now = () => Math.floor(Date.now() / 1_000);
  const valid = ({ issuer }: IdentityProvider): JWTPayload => ({
    iss: issuer,
    aud: agentResource,
    sub: 'ann',
    acr: 'urn:high',
    iat: now(),
    exp: now() + 300,
  });
  const signedWithPublicKey = (provider: IdentityProvider) => {
    const key = createPublicKey({ key: provider.publicKey, format: 'jwk' });
    const secret = Buffer.from(key.export({ type: 'spki', format: 'pem' }));
    return new SignJWT(valid(provider))
      .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
      .sign(secret);
  };

  it.each<[string, string, (provider: IdentityProvider) => Promise<string>]>([
    [
      'has expired',
      'the token has expired; sign in again',
      (provider) => provider.forge({ ...valid(provider), exp: now() - 60 }),
    ],
    [
      'never expires',
      'the token lacks a valid claim exp; sign in again',
      (provider) => {
        const { exp: _, ...endless } = valid(provider);
        return provider.forge(endless);
      },
    ],
    [
      'is for another service',
      otherAudience,
      (provider) => provider.signIn('ann', 'urn:high', 'urn:other'),
    ],
    [
      'names another issuer',
      unknown,
      (provider) => provider.forge({ ...valid(provider), iss: `${provider.issuer}/` }),
    ],
    [
      'is sent by another issuer',
      unknown,
      async () => (await startIdentityProvider()).signIn('ann', 'urn:high'),
    ],
    [
      'is signed by another issuer in the name of this one',
      'the token is not signed by its issuer; sign in again',
      async (provider) => (await startIdentityProvider()).forge(valid(provider)),
    ],
    ['is not signed', unsigned, async (provider) => new UnsecuredJWT(valid(provider)).encode()],
    ['is signed with the public key as a secret', unsigned, signedWithPublicKey],
  ])('because it %s', async (_name, message, tokenOf) => {
    const provider = await startIdentityProvider();
    const agent = await startTestAgent(trusting(provider));
    const token = await tokenOf(provider);
    const answer = await agent.as(token).send('t1', script);
    expect([answer.status, answer.body]).toEqual([
      401,
      { error: 'unauthorized', code: 'unauthorized', message },
    ]);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect((await agent.as(agent.token).get('/tasks/t1')).status).toBe(404);
    expect(JSON.stringify([answer.body, agent.log])).not.toContain(token.slice(0, 20));
    const passes = agent.as(await provider.forge(valid(provider)));
    expect((await passes.send('t2', script)).body.status.state).toBe('completed');
  });
});
