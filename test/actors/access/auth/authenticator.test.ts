import { describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../../src/actors/access/auth/authenticator.ts';
import { configuredVerifiers } from '../../../../src/actors/access/auth/configured-verifiers.ts';
import { staticTokenVerifier } from '../../../../src/actors/access/auth/static-token-verifier.ts';
import type { TokenVerifier } from '../../../../src/actors/access/auth/token-verifier.ts';
import { authSchema } from '../../../../src/actors/config/schema-auth.ts';
import { startKeyServer } from './key-server.ts';
import { shown } from './verifying.ts';

const silent = { info() {}, warn() {}, error() {} };

async function authenticating(providers: object[], isOptional = false) {
  const { providers: parsed } = authSchema.parse({ providers });
  const tokens = await configuredVerifiers(parsed, { env: { TOKEN: 'from-env' }, log: silent });
  return createAuthenticator({ runtimeToken: 'runtime-token', tokens, isOptional });
}

const staticToken = (name: string, token: string) => ({
  type: 'static_token',
  name,
  settings: { token },
});
const oidc = (name: string, issuer: string) => ({
  type: 'oidc',
  name,
  settings: { issuer, audience: 'agent' },
});
const missing = {
  kind: 'rejected',
  reason: 'missing_token',
  message: 'send a bearer token in the Authorization header',
  tokenKind: 'none',
};
const verified = (provider: string, tokenKind: string, userId = provider) => ({
  kind: 'verified',
  caller: { provider, userId },
  tokenKind,
});
const unknown = (tokenKind: string) => ({
  kind: 'rejected',
  reason: 'rejected',
  message: 'the bearer token is unknown',
  tokenKind,
});

describe('the authentication chain', () => {
  it('maps static tokens to their callers', async () => {
    const claims = { acr: 'high', org_id: 'o', workspace_id: 'w', sub: 'x', email: 'y' };
    const identity = { user_id: 'u', email: 'u@a.io', claims };
    const authenticator = await authenticating([
      { type: 'static_token', name: 'env', settings: { token_env: 'TOKEN', identity } },
      {
        type: 'static_token',
        name: 'odd',
        settings: { token: 'b', identity: { claims: { acr: 3, org_id: 4, email: 'y' } } },
      },
    ]);
    expect(await authenticator.verify(shown('from-env'))).toStrictEqual({
      kind: 'verified',
      caller: {
        provider: 'env',
        userId: 'u',
        email: 'u@a.io',
        orgId: 'o',
        workspaceId: 'w',
        acr: 'high',
      },
      tokenKind: 'bearer',
    });
    expect(await authenticator.verify(shown('b'))).toStrictEqual(verified('odd', 'bearer'));
  });

  it.each([
    ['from-en', 'bearer'],
    ['', 'bearer'],
    ['a.b.c', 'jwt'],
    ['a.b.', 'jwt'],
    ['service-cloud-v1.aaa', 'sigv4'],
    ['runtime-token ', 'bearer'],
  ])('refuses the token "%s"', async (token, kind) => {
    expect(await (await authenticating([])).verify(shown(token))).toEqual(unknown(kind));
    expect(await (await authenticating([], true)).verify(shown(token))).toEqual(unknown(kind));
  });

  it('requires a token unless anonymous callers are allowed', async () => {
    expect(await (await authenticating([])).verify(shown(null))).toEqual(missing);
    expect(await (await authenticating([], true)).verify(shown(null))).toEqual({
      kind: 'anonymous',
    });
  });

  it('is decided by the first provider that recognises a token, in the order of the list', async () => {
    const server = await startKeyServer();
    const good = await server.sign();
    const stale = await server.sign({ exp: 1 });
    const after = await authenticating([oidc('staff', server.issuer), staticToken('late', stale)]);
    expect(await after.verify(shown(stale))).toEqual({
      kind: 'rejected',
      reason: 'invalid',
      message: 'the token has expired; sign in again',
      tokenKind: 'jwt',
    });
    expect(await after.verify(shown(good))).toEqual(verified('staff', 'jwt', 'ann'));
    const before = await authenticating([
      staticToken('early', stale),
      oidc('staff', server.issuer),
    ]);
    expect(await before.verify(shown(stale))).toEqual(verified('early', 'bearer'));
    expect(await before.verify(shown(good))).toEqual(verified('staff', 'jwt', 'ann'));
    expect(await before.verify(shown('runtime-token'))).toEqual(verified('runtime', 'runtime'));
  });

  it('asks each issuer only for its own tokens', async () => {
    const [one, two] = [await startKeyServer(), await startKeyServer()];
    const authenticator = await authenticating([oidc('one', one.issuer), oidc('two', two.issuer)]);
    const signed = { one: await one.sign(), two: await two.sign() };
    const foreign = await one.sign({ iss: 'https://three.example' });
    expect(await authenticator.verify(shown(signed.two))).toEqual(verified('two', 'jwt', 'ann'));
    expect(one.asked).toEqual({ metadata: 0, keys: 0 });
    expect(await authenticator.verify(shown(signed.one))).toEqual(verified('one', 'jwt', 'ann'));
    expect(await authenticator.verify(shown(foreign))).toEqual(unknown('jwt'));
  });

  it('judges a request with a token and an assertion in the order of the list', async () => {
    const server = await startKeyServer();
    const iap = {
      type: 'cloud_iap',
      name: 'proxy',
      settings: { audience: 'agent', issuer: server.issuer, jwks_url: `${server.issuer}/keys` },
    };
    const own = staticToken('own', 't');
    const good = await server.sign();
    const stale = await server.sign({ exp: 1 });
    const expired = {
      kind: 'rejected',
      reason: 'invalid',
      message: 'the token has expired; sign in again',
      tokenKind: 'iap',
    };
    const both = (bearer: string | null, iapAssertion: string) => ({
      bearer,
      iapAssertion,
      orgId: null,
    });
    const first = await authenticating([iap, own]);
    expect(await first.verify(both('t', good))).toEqual(verified('proxy', 'iap', 'ann'));
    expect(await first.verify(both('t', stale))).toEqual(expired);
    expect(await first.verify(both('t', 'junk'))).toEqual(verified('own', 'bearer'));
    expect(await first.verify(both('x', 'junk'))).toEqual(unknown('bearer'));
    expect(await first.verify(both(null, good))).toEqual(verified('proxy', 'iap', 'ann'));
    expect(await first.verify(both(null, 'junk'))).toEqual({
      kind: 'rejected',
      reason: 'rejected',
      message: 'the assertion of the proxy is unknown',
      tokenKind: 'iap',
    });
    const last = await authenticating([own, iap]);
    expect(await last.verify(both('t', stale))).toEqual(verified('own', 'bearer'));
    expect(await last.verify(both('x', good))).toEqual(verified('proxy', 'iap', 'ann'));
  });

  it('ignores an assertion that no provider reads', async () => {
    const credentials = { bearer: null, iapAssertion: 'a.b.c', orgId: null };
    expect(await (await authenticating([staticToken('own', 't')])).verify(credentials)).toEqual(
      missing,
    );
    expect(await (await authenticating([], true)).verify(credentials)).toEqual({
      kind: 'anonymous',
    });
  });

  it('refuses when a provider throws', async () => {
    const breaking: TokenVerifier = {
      tokenKind: 'jwt',
      verify: () => Promise.reject(new Error('canary')),
    };
    const knowing = staticTokenVerifier('t', { provider: 'own', userId: 'own' });
    const tokens = [breaking, knowing];
    const authenticator = createAuthenticator({ runtimeToken: 'r', tokens, isOptional: true });
    expect(await authenticator.verify(shown('t'))).toEqual({
      kind: 'rejected',
      reason: 'provider_unavailable',
      message: 'the token could not be judged; try again later',
      tokenKind: 'jwt',
    });
  });
});
