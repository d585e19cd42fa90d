import { describe, expect, it, onTestFinished } from 'vitest';
import { probeProvider, providerAddress } from '../../../../src/actors/access/auth/auth.ts';
import { authSchema } from '../../../../src/actors/config/schema-auth.ts';
import { createEgress } from '../../../../src/actors/outbound/egress/egress.ts';
import type { Credentials } from '../../../../src/actors/ports/authentication.ts';
import type { EgressRecord, Outbound } from '../../../../src/actors/ports/egress.ts';
import { notedOutbound, refusingOutbound } from '../../../helpers/noted-outbound.ts';
import { type FakeService, redirects, says, startFakeService } from './fake-service.ts';
import { json, type KeyServer, startKeyServer } from './key-server.ts';
import { region, signedUrl, tokenOf } from './signed-token.ts';
import { providing, shown } from './verifying.ts';

/** A provider with a server to call, and a credential it accepts. */
interface Staged {
  settings: object;
  credentials: Credentials;
  /** What is asked, in order, to accept it. */
  asked: string[];
}

const tenant = '11111111-2222-3333-4444-555555555555';

const stages: Record<string, () => Promise<Staged>> = {
  async oidc() {
    const { issuer, ...server } = await keyServer();
    return {
      settings: { issuer, audience: 'agent' },
      credentials: shown(await server.sign()),
      asked: [`GET ${issuer}/.well-known/openid-configuration`, `GET ${issuer}/keys`],
    };
  },
  async directory_ad() {
    const { issuer, ...server } = await keyServer();
    const iss = `${issuer}/${tenant}/v2.0`;
    return {
      settings: { tenant_id: tenant, audience: 'agent', authority: issuer },
      credentials: shown(await server.sign({ iss, tid: tenant }, 'r1')),
      asked: [`GET ${issuer}/${tenant}/discovery/v2.0/keys`],
    };
  },
  async cloud_iap() {
    const { issuer, ...server } = await keyServer();
    const jwks_url = `${issuer}/keys`;
    return {
      settings: { audience: 'agent', issuer, jwks_url },
      credentials: { ...shown(null), iapAssertion: await server.sign() },
      asked: [`GET ${jwks_url}`],
    };
  },
  async http_verifier() {
    const { url } = await startFakeService(says({ valid: true, user_id: 'ann' }));
    const asked = [`POST ${url}/verify`];
    return { settings: { url: `${url}/verify` }, credentials: shown('canary'), asked };
  },
  async cloud_sigv4() {
    const { url } = await tokenService();
    const question = signedUrl({ origin: url });
    return {
      settings: { region, sts_url: url, allowed_accounts: ['123456789012'] },
      credentials: shown(tokenOf(question)),
      asked: [`GET ${question}`],
    };
  },
};

async function keyServer(): Promise<Pick<KeyServer, 'issuer' | 'sign'>> {
  const server = await startKeyServer();
  await server.addKey('r1', 'RS256');
  return { issuer: server.issuer, sign: server.sign.bind(server) };
}

function tokenService(): Promise<FakeService> {
  const GetCallerIdentityResult = {
    Arn: 'arn:aws:sts::123456789012:assumed-role/deploy/ci',
    Account: '123456789012',
  };
  return startFakeService(says({ GetCallerIdentityResponse: { GetCallerIdentityResult } }));
}

/** The policy with nothing listed, under which what the operator names may be asked all the same. */
function policed(type: string, settings: object) {
  const { providers } = authSchema.parse({ providers: [{ type, settings }] });
  const records: EgressRecord[] = [];
  const endpoints = providers.flatMap((provider) => {
    const url = URL.parse(providerAddress(provider) ?? '');
    return url === null
      ? []
      : [{ host: url.hostname, port: Number(url.port), source: 'auth.providers.0' }];
  });
  const egress = createEgress({
    mode: 'deny-all',
    allowedDomains: [],
    allowPrivateIps: false,
    allowedPrivateCidrs: [],
    propagateTo: [],
    endpoints,
    record: (record) => void records.push(record),
  });
  onTestFinished(() => egress.close());
  return { egress, records };
}

describe.each(Object.entries(stages))('a provider of type %s', (type, stage) => {
  const verdictOn = async ({ settings, credentials }: Staged, outbound: Outbound) =>
    providing(type, settings, outbound).verdictOn(credentials);

  it('sends its requests only through egress', async () => {
    const staged = await stage();
    const outbound = notedOutbound();
    expect(await verdictOn(staged, outbound)).toMatchObject({ kind: 'verified' });
    expect(outbound.passed).toEqual(staged.asked);
  });

  it('refuses when egress refuses', async () => {
    const staged = await stage();
    expect(await verdictOn(staged, refusingOutbound())).toMatchObject({
      kind: 'rejected',
      reason: 'provider_unavailable',
    });
  });

  it('may have a private address, since the operator configured it', async () => {
    const staged = await stage();
    const { egress, records } = policed(type, staged.settings);
    expect(await verdictOn(staged, egress)).toMatchObject({ kind: 'verified' });
    const allowed = { scope: null, domain: '127.0.0.1', mode: 'deny-all', reason: null };
    expect(records).toEqual(staged.asked.map(() => allowed));
  });

  it('is probed through egress', async () => {
    const { settings } = await stage();
    const { providers } = authSchema.parse({ providers: [{ type, settings }] });
    const refusing = refusingOutbound();
    const [provider] = providers;
    if (provider === undefined) throw new Error('no provider');
    await expect(probeProvider(provider, refusing)).rejects.toThrow(/ cannot be reached/);
    expect(refusing.passed.length).toBe(1);
  });
});

it("a verifier's redirect is not followed, also under the policy", async () => {
  const service = await startFakeService(redirects);
  const settings = { url: `${service.url}/verify` };
  const { egress } = policed('http_verifier', settings);
  const verifier = providing('http_verifier', settings, egress);
  expect(await verifier.verify('canary')).toMatchObject({ reason: 'provider_unavailable' });
  expect(service.calls.map(({ url }) => url)).toEqual(['/verify']);
});

describe('an issuer with keys on another host', () => {
  it('adds only that host to the egress list', async () => {
    const server = await startKeyServer();
    const jwks_uri = 'https://keys.example.com:8443/k';
    server.metadata = json({ issuer: server.issuer, jwks_uri });
    const discovered: object[] = [];
    const outbound: Outbound = {
      ...notedOutbound(),
      fetch: (input, init) =>
        String(input) === jwks_uri ? fetch(`${server.issuer}/keys`, init) : fetch(input, init),
      discovered: (endpoint) => void discovered.push(endpoint),
    };
    const { verify } = providing('oidc', { issuer: server.issuer, audience: 'agent' }, outbound);
    expect(await verify(await server.sign())).toMatchObject({ kind: 'verified' });
    expect(discovered).toEqual([
      { host: 'keys.example.com', port: 8443, source: 'auth.providers.0 (discovered)' },
    ]);
  });

  it('refuses while that host is not public', async () => {
    const server = await startKeyServer();
    const jwks_uri = 'https://10.0.0.7/k';
    server.metadata = json({ issuer: server.issuer, jwks_uri });
    const settings = { issuer: server.issuer, audience: 'agent' };
    const { egress, records } = policed('oidc', settings);
    const { verify } = providing('oidc', settings, egress);
    expect(await verify(await server.sign())).toMatchObject({ reason: 'provider_unavailable' });
    const hop = { scope: null, mode: 'deny-all' };
    expect(records).toEqual([
      { ...hop, domain: '127.0.0.1', reason: null },
      { ...hop, domain: '10.0.0.7', reason: 'is a private address' },
    ]);
    expect(egress.hosts.at(-1)).toEqual({
      host: '10.0.0.7',
      port: 443,
      source: 'auth.providers.0 (discovered)',
      openTo: 'daemon',
    });
  });

  it('adds nothing for keys on its own host', async () => {
    const { issuer, ...server } = await keyServer();
    const discovered: object[] = [];
    const outbound = {
      ...notedOutbound(),
      discovered: (endpoint: object) => void discovered.push(endpoint),
    };
    const { verify } = providing('oidc', { issuer, audience: 'agent' }, outbound);
    expect(await verify(await server.sign())).toMatchObject({ kind: 'verified' });
    expect(discovered).toEqual([]);
  });

  it('is refused when its keys come over plain http', async () => {
    const server = await startKeyServer();
    server.metadata = json({ issuer: server.issuer, jwks_uri: 'http://keys.example.com/k' });
    const outbound = { ...notedOutbound(), discovered: () => expect.unreachable() };
    const { verify } = providing('oidc', { issuer: server.issuer, audience: 'agent' }, outbound);
    expect(await verify(await server.sign())).toMatchObject({ reason: 'provider_unavailable' });
    expect(outbound.passed).toEqual([`GET ${server.issuer}/.well-known/openid-configuration`]);
  });
});
