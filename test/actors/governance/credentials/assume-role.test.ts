import { inspect } from 'node:util';
import { expect, it, vi } from 'vitest';
import {
  CredentialError,
  createCredentialIssuer,
  type IssuerPorts,
} from '../../../../src/actors/governance/credentials/credentials.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { assumedRole, fakeSts, refusal } from './fake-sts.ts';

const roleArn = 'arn:aws:iam::123456789012:role/refunds';
const values = { key: 'ASIACANARYKEY', secret: 'canary-secret', token: 'canary-token' };
const env = { AWS_ACCESS_KEY_ID: 'AKIABASEKEY', AWS_SECRET_ACCESS_KEY: 'canary-base-secret' };
const start = Date.parse('2026-03-01T12:00:00Z');
const granted = { status: 200, body: assumedRole(values, '2026-03-01T12:15:00Z') };

function issuing(spec: JsonObject, ports: Partial<IssuerPorts> = {}) {
  const clock = new ManualClock(start);
  const lines: [object, string][] = [];
  const write = (fields: object, message: string): void => void lines.push([fields, message]);
  const log = { info: write, warn: write, error: write };
  const entry = { tool: 'refund', provider: 'sts_assume_role' as const, spec };
  const issuer = createCredentialIssuer([entry], { env, clock, log, ...ports });
  const stopper = new AbortController();
  const { signal } = stopper;
  const issue = (callId = 'call-1') =>
    issuer.issue({ tool: 'refund', taskId: 'task-1', callId, signal });
  const fail = async (): Promise<CredentialError> => {
    const error: unknown = await issue().then(
      () => expect.unreachable('a credential was issued'),
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(CredentialError);
    return error as CredentialError;
  };
  return { issuer, issue, fail, stopper, clock, lines };
}

it('a role is assumed with every setting of its entry, and its credentials are issued', async () => {
  const { url, requests } = await fakeSts(() => granted);
  const { issuer, issue, lines, clock } = issuing(
    {
      role_arn: roleArn,
      session_name: 'refunds@desk',
      duration: '1h',
      external_id: 'shop:7',
      policy: { Version: '2012-10-17', Statement: [] },
      region: 'eu-central-1',
      endpoint: url,
      session_token_env: 'BASE_TOKEN',
    },
    { env: { ...env, BASE_TOKEN: 'base-token' } },
  );
  const credential = await issue();
  expect(requests).toEqual([
    {
      method: 'POST',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIABASEKEY\/\d{8}\/eu-central-1\/sts\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/,
      ),
      securityToken: 'base-token',
      parameters: {
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: roleArn,
        RoleSessionName: 'refunds@desk',
        DurationSeconds: '3600',
        ExternalId: 'shop:7',
        Policy: '{"Version":"2012-10-17","Statement":[]}',
      },
    },
  ]);
  expect(issuer.providerOf('refund')).toBe('sts_assume_role');
  expect({ ...credential }).toEqual({ provider: 'sts_assume_role', ttl: 15 * 60_000 });
  expect(credential.env()).toEqual({
    AWS_ACCESS_KEY_ID: values.key,
    AWS_SECRET_ACCESS_KEY: values.secret,
    AWS_SESSION_TOKEN: values.token,
  });
  expect(credential.secretValues()).toEqual([values.key, values.secret, values.token]);
  expect(lines).toEqual([]);
  expect(clock.pending).toBe(0);
});

it('a role session is named after the call and lasts 15 minutes by default', async () => {
  const { url, requests } = await fakeSts(() => granted);
  const { issue } = issuing({ role_arn: roleArn, endpoint: url });
  await issue(`a b/${'c'.repeat(80)}`);
  expect(requests.map(({ parameters, securityToken }) => ({ parameters, securityToken }))).toEqual([
    {
      parameters: {
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: roleArn,
        RoleSessionName: `holdpoint-a-b-${'c'.repeat(50)}`,
        DurationSeconds: '900',
      },
      securityToken: undefined,
    },
  ]);
});

it.each([
  ['the usual variables', {}, 'base-token', 'AKIABASEKEY'],
  [
    'other variables',
    { access_key_env: 'OTHER_KEY', secret_key_env: 'OTHER_SECRET' },
    undefined,
    'OTHER',
  ],
  ['another key', { access_key_env: 'OTHER_KEY' }, undefined, 'OTHER'],
  ['another secret', { secret_key_env: 'OTHER_SECRET' }, undefined, 'AKIABASEKEY'],
])('a role sends AWS_SESSION_TOKEN only with the identity of %s', async (_, keys, token, key) => {
  const { url, requests } = await fakeSts(() => granted);
  const { issue } = issuing(
    { role_arn: roleArn, endpoint: url, ...keys },
    {
      env: {
        ...env,
        AWS_SESSION_TOKEN: 'base-token',
        OTHER_KEY: 'OTHER',
        OTHER_SECRET: 'other-secret',
      },
    },
  );
  await issue();
  expect(
    requests.map(({ securityToken, authorization }) => [
      securityToken,
      /Credential=(\w+)/.exec(authorization)?.[1],
    ]),
  ).toEqual([[token, key]]);
});

it.each([
  ['its own region', { region: 'eu-west-3' }, 'sts.eu-west-3.amazonaws.com'],
  ['the region of the environment', {}, 'sts.cn-north-1.amazonaws.com.cn'],
])('a role uses the service of %s and ignores endpoints of the process', async (_, keys, host) => {
  vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:9');
  vi.stubEnv('AWS_ENDPOINT_URL_STS', 'http://127.0.0.1:9');
  const hosts: string[] = [];
  let destroyed = 0;
  const requestHandler = {
    handle: (request: { hostname: string }) => {
      hosts.push(request.hostname);
      return Promise.reject(new Error('offline'));
    },
    destroy: () => void (destroyed += 1),
  } as unknown as NonNullable<IssuerPorts['requestHandler']>;
  const { fail } = issuing(
    { role_arn: roleArn, ...keys },
    { env: { ...env, AWS_REGION: 'cn-north-1' }, requestHandler },
  );
  await fail();
  vi.unstubAllEnvs();
  expect([...new Set(hosts)]).toEqual([host]);
  expect(destroyed).toBe(0);
});

const canary = 'canary 999999999999 arn:aws:iam::999999999999:user/canary';

it.each([
  [
    403,
    refusal('AccessDenied', canary),
    'the role may not be assumed; check its trust policy and external_id',
    1,
  ],
  [
    403,
    refusal('ExpiredTokenException', canary),
    'the identity that assumes the role has expired; renew it',
    1,
  ],
  [400, refusal('MalformedPolicyDocument', canary), 'policy is not a policy document; fix it', 1],
  [400, refusal('canary', canary), 'the token service refused the request (HTTP 400)', 1],
  [302, '', 'the token service refused the request (HTTP 302)', 1],
  [500, refusal('InternalFailure', canary), 'the token service failed; try again later', 2],
  [200, '<html>canary</p>', 'the answer of the token service could not be read; check endpoint', 1],
  [200, '', 'the answer of the token service has no complete credential', 1],
  [200, '<AssumeRoleResponse/>', 'the answer of the token service has no complete credential', 1],
  [
    200,
    assumedRole({ ...values, secret: '' }, '2026-03-01T13:00:00Z'),
    'the answer of the token service has no complete credential',
    1,
  ],
  [
    200,
    assumedRole({ ...values, key: '' }, '2026-03-01T13:00:00Z'),
    'the answer of the token service has no complete credential',
    1,
  ],
  [
    200,
    assumedRole(values, '2026-03-01T13:00:00Z').replace(/<Expiration>.*<.Expiration>/, ''),
    'the answer of the token service has no complete credential',
    1,
  ],
  [
    200,
    assumedRole(values, 'canary'),
    'the answer of the token service could not be read; check endpoint',
    1,
  ],
  [
    200,
    assumedRole(values, '2026-03-01T12:00:00Z'),
    'the token service issued an expired credential; check the clock',
    1,
  ],
])('a role error contains no foreign text: %i %j %s', async (status, body, reason, attempts) => {
  const { url, requests } = await fakeSts(() => ({ status, body }));
  const { fail, lines, clock } = issuing({ role_arn: roleArn, endpoint: url });
  const error = await fail();
  expect(error.message).toBe(`the credential for refund could not be issued: ${reason}`);
  expect(lines).toEqual([
    [
      {
        tool: 'refund',
        provider: 'sts_assume_role',
        task_id: 'task-1',
        call_id: 'call-1',
        reason,
        status: expect.toSatisfy((given) => given === null || given === status),
      },
      'credential: could not be issued',
    ],
  ]);
  expect(inspect([error, lines], { depth: null, showHidden: true })).not.toMatch(/canary|9999/i);
  expect(requests).toHaveLength(attempts);
  expect(clock.pending).toBe(0);
});

it('a role request is repeated once after a failure', async () => {
  const { url, requests } = await fakeSts((count) =>
    count === 1 ? { status: 503, body: refusal('ServiceUnavailable', 'busy') } : granted,
  );
  const credential = await issuing({ role_arn: roleArn, endpoint: url }).issue();
  expect(credential.env()['AWS_SESSION_TOKEN']).toBe(values.token);
  expect(requests).toHaveLength(2);
});

it('a role request fails when no server listens', async () => {
  const { fail } = issuing({ role_arn: roleArn, endpoint: 'http://127.0.0.1:1' });
  expect((await fail()).message).toBe(
    'the credential for refund could not be issued: the token service could not be reached; check region and endpoint',
  );
});

it.each([
  ['an answer', null],
  ['the rest of an answer', { ...granted, hangs: true }],
])('a role request waits at most 10 seconds for %s, then disconnects', async (_, answer) => {
  const { url, arrived, closed } = await fakeSts(() => answer);
  const { fail, clock } = issuing({ role_arn: roleArn, endpoint: url });
  const failed = fail();
  await arrived;
  clock.advance(9_999);
  expect(clock.pending).toBe(1);
  clock.advance(1);
  expect((await failed).message).toBe(
    'the credential for refund could not be issued: the token service took too long',
  );
  await closed;
});

it('a role request stops when the task is stopped, and logs nothing', async () => {
  const { url, arrived } = await fakeSts(() => null);
  const { fail, clock, stopper, lines } = issuing({ role_arn: roleArn, endpoint: url });
  const failed = fail();
  await arrived;
  stopper.abort();
  expect((await failed).message).toBe(
    'the credential for refund could not be issued: the task was stopped',
  );
  expect({ lines, pending: clock.pending }).toEqual({ lines: [], pending: 0 });
});

it('a role request is not sent when the task was stopped before', async () => {
  const { url, requests } = await fakeSts(() => granted);
  const { fail, stopper } = issuing({ role_arn: roleArn, endpoint: url });
  stopper.abort();
  await fail();
  expect(requests).toEqual([]);
});

it('a role request fails when the identity was removed before the call', async () => {
  const { url, requests } = await fakeSts(() => granted);
  const variables: Record<string, string> = { ...env };
  const { fail } = issuing({ role_arn: roleArn, endpoint: url }, { env: variables });
  delete variables['AWS_SECRET_ACCESS_KEY'];
  expect((await fail()).message).toBe(
    'the credential for refund could not be issued: the environment variable AWS_SECRET_ACCESS_KEY is not set; it must belong to the identity that assumes the role',
  );
  expect(requests).toEqual([]);
});

it.each<[string, Parameters<typeof assumedRole>[0]]>([
  ['key', { ...values, key: '' }],
  ['secret', { ...values, secret: '' }],
  ['token', { ...values, token: '' }],
])('a role request fails when the answer has no %s', async (_, given) => {
  const { url } = await fakeSts(() => ({
    status: 200,
    body: assumedRole(given, '2026-03-01T13:00:00Z'),
  }));
  expect((await issuing({ role_arn: roleArn, endpoint: url }).fail()).message).toBe(
    'the credential for refund could not be issued: the answer of the token service has no complete credential',
  );
});

it('a role request has whole seconds, within the limit of the entry', async () => {
  const { url, requests } = await fakeSts(() => granted);
  await issuing({ role_arn: roleArn, endpoint: url, duration: '15m1.9s' }).issue();
  expect(requests.map(({ parameters }) => parameters['DurationSeconds'])).toEqual(['901']);
});
