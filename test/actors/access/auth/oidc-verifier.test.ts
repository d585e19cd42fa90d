import fc from 'fast-check';
import { base64url, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../helpers/runs.ts';
import { startKeyServer } from './key-server.ts';
import { providing, verifying } from './verifying.ts';

const refused = (message: string, reason = 'invalid') => ({ kind: 'rejected', reason, message });
const now = () => Math.floor(Date.now() / 1_000);

const ann = { kind: 'verified', caller: { provider: 'staff', userId: 'ann' } };
const lacks = (claim: string) => refused(`the token lacks a valid claim ${claim}; sign in again`);
const otherAudience = refused('the token is for another audience; ask for one for this agent');
const tooLong = refused(
  'the token lives longer than is allowed here; ask for one that ends sooner',
);
const early = refused('the token is not valid yet; wait, or check the clocks');
const expired = refused('the token has expired; sign in again');
const badAlgorithm = refused(
  'the token is not signed in a way that is accepted here; sign in again',
);
const badSignature = refused('the token is not signed by its issuer; sign in again');

describe('the claims of a token', () => {
  it.each<[string, () => JWTPayload, object]>([
    ['is valid', () => ({}), ann],
    ['has several audiences, one of them ours', () => ({ aud: ['x', 'agent'] }), ann],
    ['is for another audience', () => ({ aud: 'agent2' }), otherAudience],
    ['is for other audiences', () => ({ aud: ['x', 'y'] }), otherAudience],
    ['has no audience', () => ({ aud: undefined as never }), otherAudience],
    ['has an audience that is not a string', () => ({ aud: [] }), otherAudience],
    ['has no expiry', () => ({ exp: undefined as never }), lacks('exp')],
    ['expired within the skew', () => ({ exp: now() - 20 }), ann],
    ['expired before it', () => ({ exp: now() - 31 }), expired],
    ['is valid from within the skew', () => ({ nbf: now() + 20 }), ann],
    ['is valid from after it', () => ({ nbf: now() + 40 }), early],
    ['was issued within the skew', () => ({ iat: now() + 20 }), ann],
    ['was issued after it', () => ({ iat: now() + 40 }), early],
    ['was issued a day before its expiry', () => ({ iat: now() - 86_300, exp: now() + 100 }), ann],
    ['has no not-before time', () => ({ iat: undefined as never }), ann],
    ['was issued too long before its expiry', () => ({ iat: now() - 90_100 }), tooLong],
    ['was issued at time zero', () => ({ iat: 0 }), tooLong],
    ['was issued before it', () => ({ iat: -1e300 }), tooLong],
    ['expires in a year', () => ({ exp: now() + 31_536_000 }), tooLong],
    [
      'expires in a year and has no not-before time',
      () => ({ iat: undefined as never, exp: now() + 31_536_000 }),
      tooLong,
    ],
    ['expires in 1e300', () => ({ exp: 1e300 }), tooLong],
    ['expires in 9999', () => ({ exp: 253_402_300_799 }), tooLong],
    [
      'has no user',
      () => ({ sub: undefined as never }),
      refused('the token has no user in its claim sub', 'rejected'),
    ],
    [
      'has a blank user',
      () => ({ sub: ' ' }),
      refused('the token has no user in its claim sub', 'rejected'),
    ],
  ])('are checked when it %s', async (_name, claims, verdict) => {
    const server = await startKeyServer();
    const token = await server.sign(claims());
    expect(await verifying({ issuer: server.issuer }).verify(token)).toEqual(verdict);
  });

  it.each(['exp', 'nbf', 'iat'])('must have a number for %s', async (claim) => {
    const server = await startKeyServer();
    const token = await server.sign({ [claim]: String(now()) });
    expect(await verifying({ issuer: server.issuer }).verify(token)).toEqual(lacks(claim));
  });

  it.each(['1e400', '-1e400', 'null', '"9"', '[9]'])(
    'need a numeric expiry, and %s is refused',
    async (exp) => {
      const server = await startKeyServer();
      const token = await server.signText(
        `{"iss":${JSON.stringify(server.issuer)},"aud":"agent","sub":"ann","exp":${exp}}`,
      );
      expect(await verifying({ issuer: server.issuer }).verify(token)).toMatchObject({
        reason: 'invalid',
      });
    },
  );

  it('may live as long as configured', async () => {
    const server = await startKeyServer();
    const { issuer } = server;
    const short = verifying({ issuer, max_token_lifetime: '10m' });
    const living = (seconds: number) => server.sign({ iat: now(), exp: now() + seconds });
    expect(await short.verify(await living(600))).toEqual(ann);
    expect(await short.verify(await living(660))).toEqual(tooLong);
    const long = verifying({ issuer, max_token_lifetime: '480h' });
    expect(await long.verify(await living(1_728_000))).toEqual(ann);
  });

  it('use the configured skew', async () => {
    const server = await startKeyServer();
    const { issuer } = server;
    const token = await server.sign({ exp: now() - 20 });
    expect(await verifying({ issuer, clock_skew: '0s' }).verify(token)).toEqual(expired);
  });

  it('must name the client when no audience is configured, and one of a list of audiences', async () => {
    const server = await startKeyServer();
    const { issuer } = server;
    const client = verifying({ issuer, audience: undefined, client_id: 'desk' });
    expect(await client.verify(await server.sign({ aud: 'desk' }))).toEqual(ann);
    expect(await client.verify(await server.sign({ aud: 'agent' }))).toEqual(otherAudience);
    const list = verifying({ issuer, audience: ['a', 'b'], client_id: 'desk' });
    expect(await list.verify(await server.sign({ aud: 'b' }))).toEqual(ann);
    expect(await list.verify(await server.sign({ aud: 'desk' }))).toEqual(otherAudience);
    const none = verifying({ issuer, audience: undefined });
    expect(await none.verify(await server.sign())).toEqual(otherAudience);
  });
});

describe('the caller of a token', () => {
  const callerOf = async (claims: JWTPayload, claimMap: object = {}) => {
    const server = await startKeyServer();
    const verifier = verifying({ issuer: server.issuer, claim_map: claimMap });
    const verdict = await verifier.verify(await server.sign(claims));
    return verdict?.kind === 'verified' ? verdict.caller : verdict;
  };

  it('has the properties of the claims', async () => {
    const claims = { email: 'ann@a.io', org_id: 'o', workspace_id: 'w', acr: 'urn:high', x: 'y' };
    expect(await callerOf(claims)).toStrictEqual({
      provider: 'staff',
      userId: 'ann',
      email: 'ann@a.io',
      orgId: 'o',
      workspaceId: 'w',
      acr: 'urn:high',
    });
  });

  it('is read from other claims when they are configured', async () => {
    const claims = { uid: 'u1', mail: 'a@a.io', 'https://a.io/org': 'o', ws: 'w', level: 'l2' };
    const map = { user_id: 'uid', email: 'mail', org_id: 'https://a.io/org', workspace_id: 'ws' };
    expect(await callerOf({ ...claims, acr: 'l9' }, { ...map, acr: 'level' })).toStrictEqual({
      provider: 'staff',
      userId: 'u1',
      email: 'a@a.io',
      orgId: 'o',
      workspaceId: 'w',
      acr: 'l2',
    });
  });

  it.each([[['urn:high']], [2], [{ a: 1 }], [true], [null], [''], ['\ud800']])(
    'has no acr when the claim is %j',
    async (acr) => {
      expect(await callerOf({ acr })).toStrictEqual({ provider: 'staff', userId: 'ann' });
    },
  );

  it.each([
    [false, undefined],
    ['false', undefined],
    [true, 'ann@a.io'],
    [undefined, 'ann@a.io'],
  ])('has a verified email: %j', async (verified, email) => {
    const claims = { email: 'ann@a.io', email_verified: verified };
    expect(await callerOf(claims)).toStrictEqual({
      provider: 'staff',
      userId: 'ann',
      ...(email === undefined ? {} : { email }),
    });
  });

  const emails = async (settings: object, bindsApprover: boolean, claims: JWTPayload[]) => {
    const server = await startKeyServer();
    const all = { issuer: server.issuer, audience: 'agent', ...settings };
    const { verify } = providing('oidc', all, undefined, bindsApprover);
    const verdicts = claims.map(async (each) => verify(await server.sign(each)));
    return (await Promise.all(verdicts)).map((verdict) =>
      verdict?.kind === 'verified' ? (verdict.caller.email ?? null) : verdict,
    );
  };
  const email = 'ann@a.io';
  const flags = [true, 'true', undefined, false, 'false', 1, null, 'yes', [true]];
  const flagged = flags.map((email_verified) => ({ email, email_verified }) as JWTPayload);
  const proven = flags.map((flag) => (flag === true || flag === 'true' ? email : null));
  const believed = flags.map((flag) => (flag === false || flag === 'false' ? null : email));
  it.each([
    ['must be verified where approvers are bound to it', {}, true, proven],
    ['must be verified where configured', { require_email_verified: true }, false, proven],
    ['is accepted where neither is so', {}, false, believed],
    ['is accepted where configured', { require_email_verified: false }, true, believed],
  ])('has an email that %s', async (_, settings, bindsApprover, expected) => {
    expect(await emails(settings, bindsApprover, flagged)).toEqual(expected);
  });

  it('has no email from a claim that email_verified does not cover', async () => {
    const claims = [{ upn: 'boss@a.io', email, email_verified: true }] as JWTPayload[];
    const map = { claim_map: { email: 'upn' } };
    expect(await emails(map, true, claims)).toEqual([null]);
    expect(await emails({ ...map, require_email_verified: false }, true, claims)).toEqual([
      'boss@a.io',
    ]);
    expect(await emails(map, false, claims)).toEqual(['boss@a.io']);
  });

  it('has no inherited property of the claims object', async () => {
    const map = { email: 'constructor', acr: '__proto__' };
    expect(await callerOf({}, map)).toStrictEqual({ provider: 'staff', userId: 'ann' });
  });
});

describe('the signature of a token', () => {
  it.each([
    'RS256',
    'RS384',
    'RS512',
    'PS256',
    'PS384',
    'PS512',
    'ES256',
    'ES384',
    'ES512',
    'EdDSA',
  ])('may be %s', async (alg) => {
    const server = await startKeyServer();
    await server.addKey('k2', alg);
    const token = await server.sign({}, 'k2');
    expect(await verifying({ issuer: server.issuer }).verify(token)).toEqual(ann);
  });

  it('may not be missing, and may not be a shared secret', async () => {
    const server = await startKeyServer();
    const { issuer } = server;
    const claims = { iss: issuer, aud: 'agent', sub: 'ann', exp: now() + 300 };
    const secret = Buffer.from(JSON.stringify(await server.addKey('k2', 'RS256')));
    const tokens = [
      new UnsecuredJWT(claims).encode(),
      ...(await Promise.all(
        ['HS256', 'HS384', 'HS512'].map((alg) =>
          new SignJWT(claims).setProtectedHeader({ alg, kid: 'k2' }).sign(secret),
        ),
      )),
    ];
    const verifier = verifying({ issuer });
    for (const token of tokens) expect(await verifier.verify(token)).toEqual(badAlgorithm);
    expect(server.asked).toEqual({ metadata: 0, keys: 0 });
  });

  it.each([
    ['an unknown key', 'nobody'],
    ['a path for a key', '../../etc/passwd'],
    ['a URL for a key', 'http://127.0.0.1:1/keys'],
    ['a statement for a key', "k1' OR '1'='1"],
  ])('may not name %s', async (_name, kid) => {
    const server = await startKeyServer();
    const token = await server.sign({}, 'k1', { kid });
    expect(await verifying({ issuer: server.issuer }).verify(token)).toEqual(badSignature);
  });

  it('may not be by a key inside the token', async () => {
    const server = await startKeyServer();
    const other = await startKeyServer();
    const jwk = await other.addKey('own');
    const claims = { iss: server.issuer };
    const verifier = verifying({ issuer: server.issuer });
    for (const header of [
      { jwk },
      { jku: `${other.issuer}/keys` },
      { x5u: `${other.issuer}/keys` },
    ]) {
      expect(await verifier.verify(await other.sign(claims, 'own', header))).toEqual(badSignature);
      expect(
        await verifier.verify(await other.sign(claims, 'own', { ...header, kid: 'k1' })),
      ).toEqual(badSignature);
    }
    expect(other.asked).toEqual({ metadata: 0, keys: 0 });
  });

  it('may not require an unknown critical header', async () => {
    const server = await startKeyServer();
    const token = await server.sign();
    const [, payload = '', signature = ''] = token.split('.');
    const header = base64url.encode(JSON.stringify({ alg: 'ES256', kid: 'k1', crit: ['x'], x: 1 }));
    const verdict = await verifying({ issuer: server.issuer }).verify(
      `${header}.${payload}.${signature}`,
    );
    expect(verdict).toEqual(badSignature);
  });
});

describe('a token of another issuer', () => {
  it('is left to other providers', async () => {
    const server = await startKeyServer();
    const { issuer } = server;
    const verifier = verifying({ issuer });
    const tokens = [
      ...['', 'plain', 'a.b.c', 'a.b', '..', 'a.b.c.d.e'],
      await server.sign({ iss: `${issuer}/` }),
      await server.sign({ iss: issuer.toUpperCase() }),
      await server.sign({ iss: undefined as never }),
      await server.sign({ iss: [issuer] as never }),
    ];
    for (const token of tokens) expect(await verifier.verify(token)).toBeNull();
    expect(server.asked).toEqual({ metadata: 0, keys: 0 });
  });

  it('is refused after any change to a valid one', async () => {
    const server = await startKeyServer();
    const verifier = verifying({ issuer: server.issuer });
    const token = await server.sign({ acr: 'urn:low' });
    // The last letter of a signature has bits that mean nothing.
    const change = fc.tuple(fc.nat(token.length - 2), fc.constantFrom(...'AZaz09-_.='));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        const letters = [...token];
        for (const [index, letter] of changes) letters[index] = letter;
        const changed = letters.join('');
        fc.pre(changed !== token);
        const verdict = await verifier.verify(changed);
        expect(verdict?.kind).not.toBe('verified');
        expect(JSON.stringify(verdict)).not.toContain(token.slice(-20));
      }),
      { numRuns: runs(300) },
    );
  });
});
