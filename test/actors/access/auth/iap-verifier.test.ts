import type { JWTPayload } from 'jose';
import { expect, it } from 'vitest';
import { startKeyServer } from './key-server.ts';
import { providing } from './verifying.ts';

const refused = (reason: string, message: string) => ({ kind: 'rejected', reason, message });
const invalid = (message: string) => refused('invalid', message);
const ann = { kind: 'verified', caller: { provider: 'staff', userId: 'ann' } };
const badAlgorithm = invalid(
  'the token is not signed in a way that is accepted here; sign in again',
);

async function behindProxy(settings: object = {}) {
  const server = await startKeyServer();
  const { verdictOn, log } = providing('cloud_iap', {
    audience: 'agent',
    issuer: server.issuer,
    jwks_url: `${server.issuer}/keys`,
    ...settings,
  });
  const show = (iapAssertion: string | null, bearer: string | null = null) =>
    verdictOn({ bearer, iapAssertion, orgId: null });
  return { server, show, log };
}

it.each<[string, JWTPayload, object]>([
  ['only a subject', {}, ann],
  [
    'all claims',
    { email: 'ann@a.io', acr: 'high', hd: 'a.io' },
    { ...ann, caller: { ...ann.caller, email: 'ann@a.io', acr: 'high' } },
  ],
  [
    'another audience',
    { aud: '/projects/1/apps/x' },
    invalid('the token is for another audience; ask for one for this agent'),
  ],
  [
    'no audience',
    { aud: undefined as never },
    invalid('the token is for another audience; ask for one for this agent'),
  ],
  ['an expiry in the past', { exp: 1 }, invalid('the token has expired; sign in again')],
  ['no user', { sub: '' }, refused('rejected', 'the assertion has no user in its claim sub')],
])('the IAP verifier checks an assertion with %s', async (_, claims, verdict) => {
  const { server, show } = await behindProxy();
  expect(await show(await server.sign(claims))).toStrictEqual(verdict);
  expect(server.asked).toEqual({ metadata: 0, keys: 1 });
});

it.each(['RS256', 'PS256', 'ES384', 'EdDSA'])(
  'the IAP verifier refuses an assertion signed with %s',
  async (alg) => {
    const { server, show } = await behindProxy();
    await server.addKey('k2', alg);
    expect(await show(await server.sign({}, 'k2'))).toEqual(badAlgorithm);
    expect(server.asked).toEqual({ metadata: 0, keys: 0 });
  },
);

it('the IAP verifier refuses an assertion of another key', async () => {
  const { server, show } = await behindProxy();
  const other = await startKeyServer();
  expect(await show(await other.sign({ iss: server.issuer }))).toEqual(
    invalid('the token is not signed by its issuer; sign in again'),
  );
});

it('the IAP verifier reads only the header of the proxy', async () => {
  const { server, show } = await behindProxy();
  const token = await server.sign();
  expect(await show(null, token)).toBeNull();
  expect(await show('junk', token)).toBeNull();
  expect(await show(await server.sign({ iss: `${server.issuer}/` }), token)).toBeNull();
  expect(await show(token, 'junk')).toEqual(ann);
});

it('the IAP verifier refuses when the keys of the proxy are not available', async () => {
  const { server, show, log } = await behindProxy();
  server.keys = (response) => void response.writeHead(302, { location: '/' }).end();
  const token = await server.sign();
  expect(await show(token)).toEqual(
    refused(
      'provider_unavailable',
      'the identity provider staff cannot be asked for its keys; try again later',
    ),
  );
  expect(log.length).toBe(1);
  expect(JSON.stringify(log)).not.toContain(token.slice(-30));
});
