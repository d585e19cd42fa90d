import type { JWTPayload } from 'jose';
import { describe, expect, it } from 'vitest';
import { startKeyServer } from './key-server.ts';
import { providing } from './verifying.ts';

const home = '11111111-2222-3333-4444-555555555555';
const other = '99999999-2222-3333-4444-555555555555';

const refused = (reason: string, message: string) => ({ kind: 'rejected', reason, message });
const invalid = (message: string) => refused('invalid', `${message}; sign in again`);
const stranger = refused('rejected', 'the tenant of the token may not sign in here');
const lacksTenant = invalid('the token lacks a valid claim tid');
const unsigned = invalid('the token is not signed by its issuer');

async function signingIn(settings: object = {}, bindsApprover = false) {
  const server = await startKeyServer();
  await server.addKey('r1', 'RS256');
  const own = { tenant_id: home, audience: 'agent', authority: `${server.issuer}/` };
  const provider = providing('directory_ad', { ...own, ...settings }, undefined, bindsApprover);
  const iss = (tenant: string) => `${server.issuer}/${tenant}/v2.0`;
  const sign = (claims: JWTPayload = {}, kid = 'r1') =>
    server.sign({ iss: iss(home), tid: home, ...claims }, kid);
  return { server, ...provider, iss, sign };
}

const caller = (more: object = {}, orgId = home) => ({
  kind: 'verified',
  caller: { provider: 'staff', userId: 'ann', orgId, ...more },
});

describe('a directory of one tenant', () => {
  it.each<[string, JWTPayload, object]>([
    ['only a subject', {}, caller()],
    ['an object id', { oid: 'o-1' }, caller({ userId: 'o-1' })],
    ['an object id that is not a string', { oid: 7 }, caller()],
    [
      'an address',
      { email: 'ann@a.io', preferred_username: 'x@a.io' },
      caller({ email: 'ann@a.io' }),
    ],
    [
      'a name that looks like an email',
      { preferred_username: 'ann@a.io' },
      caller({ email: 'ann@a.io' }),
    ],
    ['another name', { preferred_username: '+49 30 1' }, caller()],
    ['a level', { acr: 'c1', acrs: ['c2'] }, caller({ acr: 'c1' })],
    ['levels in a list', { acr: ['c1'] as never, acrs: ['c2'] }, caller()],
    ['its own organisation claim', { org_id: 'elsewhere' }, caller()],
    [
      'no user',
      { sub: '', oid: '' },
      refused('rejected', 'the token has no user in its claims oid and sub'),
    ],
    ['another tenant', { tid: other }, lacksTenant],
    ['no tenant', { tid: undefined }, lacksTenant],
    [
      'another audience',
      { aud: 'x' },
      refused('invalid', 'the token is for another audience; ask for one for this agent'),
    ],
    ['an expiry in the past', { exp: 1 }, invalid('the token has expired')],
    ['no end', { exp: undefined as never }, invalid('the token lacks a valid claim exp')],
  ])('checks a token with %s', async (_, claims, verdict) => {
    const { server, verify, sign } = await signingIn();
    expect(await verify(await sign(claims))).toStrictEqual(verdict);
    expect(server.asked).toEqual({ metadata: 0, keys: 1 });
  });

  it('reads its keys under the tenant, and accepts issuers of either version', async () => {
    const { server, verify, sign } = await signingIn({ tenant_id: home.toUpperCase() });
    const paths: string[] = [];
    const answer = server.keys;
    server.keys = (response) => {
      paths.push(response.req.url ?? '');
      answer(response);
    };
    expect(await verify(await sign({ iss: `https://sts.windows.net/${home}/` }))).toEqual(caller());
    expect(paths).toEqual([`/${home}/discovery/v2.0/keys`]);
  });

  it('leaves tokens of other issuers to other providers', async () => {
    const { server, verify, sign, iss } = await signingIn();
    const issuers = [
      iss(other),
      `${iss(home)}/`,
      `${server.issuer}/${home}`,
      `${server.issuer}/x/${home}/v2.0`,
      `${server.issuer}//v2.0`,
      `https://sts.windows.net/${other}/`,
      `https://sts.windows.net/${home}`,
      `https://sts.windows.net.evil.io/${home}/`,
      `https://login.microsoftonline.com/${home}/v2.0`,
    ];
    for (const issuer of issuers) expect(await verify(await sign({ iss: issuer }))).toBeNull();
    for (const token of ['', 'plain', 'a.b.c']) expect(await verify(token)).toBeNull();
    expect(server.asked).toEqual({ metadata: 0, keys: 0 });
  });

  it('accepts only the signature algorithms of the directory', async () => {
    const { server, verify, sign } = await signingIn();
    const elsewhere = await startKeyServer();
    await elsewhere.addKey('r1', 'RS256');
    const forged = await elsewhere.sign({ iss: `${server.issuer}/${home}/v2.0`, tid: home }, 'r1');
    expect(await verify(forged)).toEqual(unsigned);
    expect(await verify(await sign({}, 'k1'))).toEqual(
      invalid('the token is not signed in a way that is accepted here'),
    );
  });

  it('refuses when its keys are not available', async () => {
    const { server, verify, sign, log } = await signingIn();
    server.keys = (response) => void response.destroy();
    const token = await sign();
    expect(await verify(token)).toEqual(
      refused(
        'provider_unavailable',
        'the identity provider staff cannot be asked for its keys; try again later',
      ),
    );
    expect(log.length).toBe(1);
    expect(JSON.stringify(log)).not.toContain(token.slice(-30));
  });
});

describe('the email from a directory', () => {
  const email = 'ann@a.io';
  const claims: JWTPayload[] = [
    { email },
    { email, xms_edov: true },
    { email, email_verified: true },
    { preferred_username: email },
    { preferred_username: email, xms_edov: true },
    { email: 'x', preferred_username: email },
  ];
  it.each([
    ['the claim of the tenant', {}, false, [email, email, email, email, email, 'x']],
    [
      'the verified claim, where approvers are bound to it',
      {},
      true,
      [null, email, null, null, null, null],
    ],
    [
      'the verified claim, where the settings require it',
      { require_email_verified: true },
      false,
      [null, email, null, null, null, null],
    ],
    [
      "the tenant's claim without the user name, where the settings allow it and approvers are bound",
      { require_email_verified: false },
      true,
      [email, email, email, null, null, 'x'],
    ],
  ])('is %s', async (_, settings, bindsApprover, expected) => {
    const { verify, sign } = await signingIn(settings, bindsApprover);
    const found = [];
    for (const each of claims) {
      const verdict = await verify(await sign(each));
      found.push(verdict?.kind === 'verified' ? (verdict.caller.email ?? null) : verdict);
    }
    expect(found).toEqual(expected);
  });

  it('is accepted only with a token that expires soon enough', async () => {
    const { verify, sign } = await signingIn();
    expect(await verify(await sign({ exp: 1e300 }))).toEqual(
      refused(
        'invalid',
        'the token lives longer than is allowed here; ask for one that ends sooner',
      ),
    );
  });
});

describe('a directory of several tenants', () => {
  it('accepts only listed hosts, with their shared keys', async () => {
    const { server, verify, sign, iss } = await signingIn({
      allow_multi_tenant: true,
      allowed_tenants: [other.toUpperCase()],
    });
    const token = await sign({ iss: iss(other), tid: other, preferred_username: 'ann@a.io' });
    expect(await verify(token)).toEqual(caller({ email: 'ann@a.io' }, other));
    expect(await verify(await sign())).toEqual(stranger);
    expect(await verify(await sign({ iss: iss(home), tid: other }))).toEqual(lacksTenant);
    expect(await verify(await sign({ iss: iss(other), tid: home }))).toEqual(lacksTenant);
    expect(await verify(await sign({ iss: iss('a/b') }))).toBeNull();
    expect(server.asked).toEqual({ metadata: 0, keys: 1 });
  });

  it('accepts every tenant when none is listed, but no unverified email', async () => {
    const { verify, sign, iss } = await signingIn({ allow_multi_tenant: true });
    const claims = {
      iss: iss(other),
      tid: other,
      email: 'boss@a.io',
      preferred_username: 'b@a.io',
    };
    expect(await verify(await sign(claims))).toStrictEqual(caller({}, other));
    for (const xms_edov of [false, 'false', 0, '0', null]) {
      expect(await verify(await sign({ ...claims, xms_edov }))).toStrictEqual(caller({}, other));
    }
    for (const xms_edov of [true, 'true', 1, '1']) {
      expect(await verify(await sign({ ...claims, xms_edov }))).toStrictEqual(
        caller({ email: 'boss@a.io' }, other),
      );
    }
  });

  it('accepts no signature by a key of another tenant', async () => {
    const { server, verify, sign, iss } = await signingIn({
      allow_multi_tenant: true,
      allowed_tenants: [home, other],
    });
    await server.addKey('own', 'RS256', { issuer: iss(other) });
    await server.addKey('shared', 'RS256', { issuer: iss('{tenantid}') });
    const others = { iss: iss(other), tid: other };
    expect(await verify(await sign({}, 'own'))).toEqual(unsigned);
    expect(await verify(await sign(others, 'own'))).toEqual(caller({}, other));
    expect(await verify(await sign({}, 'shared'))).toEqual(caller());
    expect(await verify(await sign(others, 'shared'))).toEqual(caller({}, other));
  });
});
