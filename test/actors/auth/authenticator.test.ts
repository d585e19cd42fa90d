import { describe, expect, it } from 'vitest';
import { createAuthenticator } from '../../../src/actors/auth/authenticator.ts';
import { configuredVerifiers } from '../../../src/actors/auth/configured-verifiers.ts';
import { authSchema } from '../../../src/actors/config/schema-auth.ts';
import { startKeyServer } from './key-server.ts';

const silent = { info() {}, warn() {}, error() {} };

function authenticating(providers: object[], isOptional = false) {
  const { providers: parsed } = authSchema.parse({ providers });
  const tokens = configuredVerifiers(parsed, { TOKEN: 'from-env' }, silent);
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
const verified = (provider: string, userId = provider) => ({
  kind: 'verified',
  caller: { provider, userId },
});
const unknown = { kind: 'rejected', message: 'the bearer token is not known here' };

describe('the authentication chain', () => {
  it('knows static tokens and whom they stand for', async () => {
    const identity = { user_id: 'u', email: 'u@a.io', claims: { acr: 'high' } };
    const authenticator = authenticating([
      { type: 'static_token', name: 'env', settings: { token_env: 'TOKEN', identity } },
      {
        type: 'static_token',
        name: 'odd',
        settings: { token: 'b', identity: { claims: { acr: 3 } } },
      },
    ]);
    expect(await authenticator.verify('from-env')).toStrictEqual({
      kind: 'verified',
      caller: { provider: 'env', userId: 'u', email: 'u@a.io', acr: 'high' },
    });
    expect(await authenticator.verify('b')).toStrictEqual(verified('odd'));
    expect(await authenticator.verify('from-en')).toEqual(unknown);
    expect(await authenticator.verify('')).toEqual(unknown);
  });

  it('asks for a token unless there need be none', async () => {
    const missing = 'send a bearer token in the Authorization header';
    expect(await authenticating([]).verify(null)).toEqual({ kind: 'rejected', message: missing });
    expect(await authenticating([], true).verify(null)).toEqual({ kind: 'anonymous' });
    expect(await authenticating([], true).verify('wrong')).toEqual(unknown);
  });

  it('lets the first who recognises a token decide, in the order of the list', async () => {
    const server = await startKeyServer();
    const good = await server.sign();
    const stale = await server.sign({ exp: 1 });
    const expired = { kind: 'rejected', message: 'the token has expired; sign in again' };
    const after = authenticating([oidc('staff', server.issuer), staticToken('late', stale)]);
    expect(await after.verify(stale)).toEqual(expired);
    expect(await after.verify(good)).toEqual(verified('staff', 'ann'));
    const before = authenticating([staticToken('early', stale), oidc('staff', server.issuer)]);
    expect(await before.verify(stale)).toEqual(verified('early'));
    expect(await before.verify(good)).toEqual(verified('staff', 'ann'));
    expect(await before.verify('runtime-token')).toEqual(verified('runtime'));
  });

  it('asks each issuer for its own tokens alone', async () => {
    const [one, two] = [await startKeyServer(), await startKeyServer()];
    const authenticator = authenticating([oidc('one', one.issuer), oidc('two', two.issuer)]);
    expect(await authenticator.verify(await two.sign())).toEqual(verified('two', 'ann'));
    expect(one.asked).toEqual({ metadata: 0, keys: 0 });
    expect(await authenticator.verify(await one.sign())).toEqual(verified('one', 'ann'));
    expect(await authenticator.verify(await one.sign({ iss: 'https://three.example' }))).toEqual(
      unknown,
    );
  });

  it('is not made of providers it does not have', () => {
    expect(() => authenticating([{ type: 'cloud_iap', settings: {} }])).toThrow(
      'an auth provider of type cloud_iap is not available; remove it',
    );
  });
});
