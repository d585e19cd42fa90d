import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { base64url, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it, vi } from 'vitest';
import {
  dies,
  drips,
  type Reply,
  redirects,
  says,
  startFakeService,
} from '../actors/access/auth/fake-service.ts';
import { json, startKeyServer } from '../actors/access/auth/key-server.ts';
import { region, signedUrl, tokenOf } from '../actors/access/auth/signed-token.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { patient } from '../helpers/patient.ts';
import { type AuditLine, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const canary = 'canary-5be1c0de-opaque';
const account = '123456789012';
const arn = `arn:aws:sts::${account}:assumed-role/deploy/ci`;
const tenant = '11111111-2222-3333-4444-555555555555';
const now = () => Math.floor(Date.now() / 1_000);

const signer = says({
  GetCallerIdentityResponse: { GetCallerIdentityResult: { Arn: arn, Account: account } },
});

/** An agent with a provider of every type, and the servers behind them. */
async function startGuarded() {
  const [issuer, directory, proxy] = await Promise.all([
    startKeyServer(),
    startKeyServer(),
    startKeyServer(),
  ]);
  await directory.addKey('r1', 'RS256');
  const sts = await startFakeService(signer);
  const desk = await startFakeService(says({ valid: true, user_id: 'guest', org_id: 'o' }));
  const audience = 'agent';
  const providers = [
    { type: 'oidc', name: 'staff', settings: { issuer: issuer.issuer, audience } },
    {
      type: 'directory_ad',
      name: 'directory',
      settings: { tenant_id: tenant, audience, authority: directory.issuer },
    },
    {
      type: 'cloud_iap',
      name: 'proxy',
      settings: { audience, issuer: proxy.issuer, jwks_url: `${proxy.issuer}/keys` },
    },
    {
      type: 'cloud_sigv4',
      name: 'signer',
      settings: { region, allowed_accounts: [account], sts_url: sts.url },
    },
    { type: 'http_verifier', name: 'desk', settings: { url: desk.url, timeout: '300ms' } },
  ];
  const auth = { required: true, providers };
  const folder = new AgentFolder({ auth });
  writeFileSync(join(folder.path, 'scripts', 'echo.sh'), 'env > "$SERVICE_AGENT_DIR/env"; cat\n');
  const agent = await startTestAgent({}, { folder });
  const directoryToken = () =>
    directory.sign({ iss: `${directory.issuer}/${tenant}/v2.0`, tid: tenant }, 'r1');
  return { agent, issuer, directory, proxy, sts, desk, directoryToken };
}

/** The first so many events of authentication; requests do not wait for them. */
async function toldOf(agent: TestAgent, count: number): Promise<AuditLine[]> {
  const read = () => agent.audit().filter(({ event }) => event.startsWith('auth_'));
  await vi.waitUntil(() => read().length >= count, patient);
  return read();
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('a provider of each type', () => {
  it('accepts its own callers, and stores no token', async () => {
    const guarded = await startGuarded();
    const { agent, issuer, proxy, desk } = guarded;
    const iap = { 'x-cloud-iap-jwt-assertion': await proxy.sign() };
    const shown: [
      provider: string,
      userId: string,
      kind: string,
      headers: Record<string, string>,
    ][] = [
      ['staff', 'ann', 'jwt', bearer(await issuer.sign({ org_id: 'acme' }))],
      ['directory', 'ann', 'jwt', bearer(await guarded.directoryToken())],
      ['proxy', 'ann', 'iap', iap],
      ['signer', arn, 'sigv4', bearer(tokenOf(signedUrl()))],
      ['desk', 'guest', 'bearer', { ...bearer(canary), 'x-service-org-id': 'wished' }],
      ['runtime', 'runtime', 'runtime', bearer(agent.token)],
    ];
    const seen: unknown[] = [];
    for (const [provider, , , headers] of shown) {
      const message = { role: 'user', parts: [{ type: 'text', text: 'go' }] };
      const sent = await agent.post('/tasks/send', { task: { id: provider, message } }, headers);
      expect([provider, sent.status]).toEqual([provider, 200]);
      seen.push(sent.body, [...sent.headers]);
    }
    const events = await toldOf(agent, shown.length);
    const orgs: Record<string, string> = {
      staff: 'acme',
      directory: tenant,
      signer: account,
      desk: 'o',
    };
    expect(events.map(({ event, seq, fields }) => ({ event, seq, ...fields }))).toEqual(
      shown.map(([provider, user_id, token_kind]) => ({
        event: 'auth_verify',
        seq: 1,
        provider,
        user_id,
        ...(orgs[provider] === undefined ? {} : { org_id: orgs[provider] }),
        token_kind,
        method: 'POST',
        path: '/tasks/send',
        remote_addr: '127.0.0.1',
      })),
    );
    expect(JSON.parse(desk.calls[0]?.body ?? '')).toEqual({ token: canary, org_id: 'wished' });

    for (const headers of shown.map(([, , , each]) => each)) {
      const secret = (Object.values(headers)[0] ?? '').replace('Bearer ', '');
      const state = join(agent.folder.path, '.service');
      const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter(
        (file) => file.isFile() && file.name !== 'runtime.token',
      );
      for (const { parentPath, name } of files) {
        expect([name, readFileSync(join(parentPath, name)).includes(secret)]).toEqual([
          name,
          false,
        ]);
      }
      expect(JSON.stringify([agent.log, seen])).not.toContain(secret);
    }
  });

  it('passes no token to a tool', async () => {
    const { agent } = await startGuarded();
    const sent = await agent.as(canary).send('t1', [{ tool: 'echo', args: {} }, { say: 'done' }]);
    expect(sent.status).toBe(200);
    const env = readFileSync(join(agent.folder.path, 'env'), 'utf8');
    expect(env).toContain('SERVICE_TOOL_CALL_ID=');
    expect(env).not.toContain(canary);
  });
});

describe('a provider that cannot be reached', () => {
  const broken: [string, Reply][] = [
    ['dies', dies],
    ['drips', drips],
    ['redirects', redirects],
    ['fails', says({}, 500)],
    ['lies', says({ valid: 'true', user_id: 'guest' })],
    ['says nothing', says('')],
  ];

  it.each(broken)('leads to 401 when it %s', async (_, reply) => {
    const guarded = await startGuarded();
    const { agent } = guarded;
    for (const server of [guarded.issuer, guarded.directory, guarded.proxy]) {
      server.metadata = reply === drips ? dies : reply;
      server.keys = reply === drips ? dies : reply;
    }
    guarded.sts.reply = reply === drips ? dies : reply;
    guarded.desk.reply = reply;
    const tokens: Record<string, string>[] = [
      bearer(await guarded.issuer.sign()),
      bearer(await guarded.directoryToken()),
      { 'x-cloud-iap-jwt-assertion': await guarded.proxy.sign() },
      bearer(tokenOf(signedUrl())),
      bearer(canary),
    ];
    for (const [index, headers] of tokens.entries()) {
      // Each in a separate workflow, since those of one are reported as one.
      const workflow = { 'x-workflow-id': `wf-${index}` };
      const answer = await agent.get('/tasks', { ...headers, ...workflow });
      expect(answer).toMatchObject({
        status: 401,
        body: {
          error: 'unauthorized',
          code: 'unauthorized',
          message: expect.stringContaining('try again later'),
        },
      });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      const secret = (Object.values(headers)[0] ?? '').replace('Bearer ', '');
      expect(JSON.stringify([agent.log, agent.audit(), answer])).not.toContain(secret);
    }
    const told = await toldOf(agent, tokens.length);
    expect(
      told.map(({ event, fields }) => [event, fields?.['reason'], fields?.['token_kind']]),
    ).toEqual(
      ['jwt', 'jwt', 'iap', 'sigv4', 'bearer'].map((kind) => [
        'auth_fail',
        'provider_unavailable',
        kind,
      ]),
    );
  });
});

describe('a token of an issuer', () => {
  it.each<
    [
      string,
      number,
      string,
      (issuer: Awaited<ReturnType<typeof startKeyServer>>) => Promise<string> | string,
    ]
  >([
    ['that is valid', 200, '', (issuer) => issuer.sign()],
    [
      'without a signature',
      401,
      'invalid',
      ({ issuer }) =>
        new UnsecuredJWT({ iss: issuer, aud: 'agent', sub: 'ann', exp: now() + 60 }).encode(),
    ],
    [
      'signed with the public key as a secret',
      401,
      'invalid',
      async (issuer) => {
        const secret = Buffer.from(JSON.stringify(await issuer.addKey('k2', 'RS256')));
        return new SignJWT({ iss: issuer.issuer, aud: 'agent', sub: 'ann', exp: now() + 60 })
          .setProtectedHeader({ alg: 'HS256', kid: 'k2' })
          .sign(secret);
      },
    ],
    ['without an expiry', 401, 'invalid', (issuer) => issuer.sign({ exp: undefined as never })],
    ['for another audience', 401, 'invalid', (issuer) => issuer.sign({ aud: 'other' })],
    ['for several audiences', 200, '', (issuer) => issuer.sign({ aud: ['x', 'agent'] })],
    [
      'of an issuer with a slash',
      401,
      'rejected',
      (issuer) => issuer.sign({ iss: `${issuer.issuer}/` }),
    ],
    ['that expired 20 s ago', 200, '', (issuer) => issuer.sign({ exp: now() - 20 })],
    ['that expired 40 s ago', 401, 'invalid', (issuer) => issuer.sign({ exp: now() - 40 })],
    ['that is valid from 20 s later', 200, '', (issuer) => issuer.sign({ nbf: now() + 20 })],
    ['that is valid from 40 s later', 401, 'invalid', (issuer) => issuer.sign({ nbf: now() + 40 })],
    [
      'with a path for a key',
      401,
      'invalid',
      (issuer) => issuer.sign({}, 'k1', { kid: '../../x' }),
    ],
    [
      'that contains its key',
      401,
      'invalid',
      async (issuer) => {
        const other = await startKeyServer();
        const jwk = await other.addKey('own');
        return other.sign({ iss: issuer.issuer }, 'own', { jwk });
      },
    ],
    [
      'with an unknown key, while the issuer is down',
      401,
      'provider_unavailable',
      async (issuer) => {
        issuer.keys = json({}, 500);
        return issuer.sign();
      },
    ],
    ['that is malformed', 401, 'rejected', () => base64url.encode('x')],
  ])('%s is answered with %i', async (_, status, reason, make) => {
    const issuer = await startKeyServer();
    const settings = { issuer: issuer.issuer, audience: 'agent' };
    const auth = { required: true, providers: [{ type: 'oidc', name: 'staff', settings }] };
    const agent = await startTestAgent({ auth });
    const token = await make(issuer);
    expect((await agent.get('/tasks', bearer(token))).status).toBe(status);
    const told = await toldOf(agent, 1);
    expect(told.map(({ event, fields }) => [event, fields?.['reason'] ?? ''])).toEqual([
      [status === 200 ? 'auth_verify' : 'auth_fail', reason],
    ]);
  });
});
