import { expect, it } from 'vitest';
import { authSchema } from '../../../src/actors/config/schema-auth.ts';
import { checkIdentity } from '../../../src/cli/doctor/check-identity.ts';
import { redirects, says, startFakeService } from '../../actors/access/auth/fake-service.ts';
import { json, startKeyServer } from '../../actors/access/auth/key-server.ts';

const check = (...providers: object[]) =>
  checkIdentity({
    ...{ providers: authSchema.parse({ providers }).providers, withheldProviders: [] },
    pageIssuer: null,
  });
const oidc = (issuer: string, name = 'staff') => ({
  type: 'oidc',
  name,
  settings: { issuer, audience: 'a' },
});
const verifier = (url: string) => ({ type: 'http_verifier', name: 'desk', settings: { url } });
const fix = (name: string) =>
  `check the settings of ${name} under auth.providers, and the way there`;

it('doctor accepts providers that need no request', async () => {
  const passes = { status: 'pass', message: 'no identity provider needs to be asked' };
  expect(await check()).toEqual(passes);
  expect(await check({ type: 'static_token', settings: { token: 'canary' } })).toEqual(passes);
});

it('doctor accepts providers that answer, and sends none of them a token', async () => {
  const server = await startKeyServer();
  const desk = await startFakeService(says({}, 405));
  const sts = await startFakeService(redirects);
  const { issuer } = server;
  const keys = `${issuer}/keys`;
  expect(await check(oidc(issuer))).toEqual({
    status: 'pass',
    message: 'the identity provider answers',
  });
  const all = [
    oidc(issuer),
    {
      type: 'directory_ad',
      settings: { tenant_id: 't', audience: 'a', authority: issuer },
    },
    { type: 'cloud_iap', settings: { audience: 'a', jwks_url: keys } },
    { type: 'cloud_sigv4', settings: { region: 'eu-central-1', sts_url: sts.url } },
    verifier(desk.url),
  ];
  expect(await check(...all)).toEqual({
    status: 'pass',
    message: 'all 5 identity providers answer',
  });
  const asked = [...desk.calls, ...sts.calls].map(({ method, body }) => ({ method, body }));
  expect(asked).toEqual(Array(2).fill({ method: 'OPTIONS', body: '' }));
});

it('doctor requests the keys from the issuer of the approvals page', async () => {
  const { issuer } = await startKeyServer();
  const checkPage = (pageIssuer: string) =>
    checkIdentity({ providers: [], withheldProviders: [], pageIssuer });
  expect(await checkPage(issuer)).toEqual({
    status: 'pass',
    message: 'the identity provider answers',
  });
  expect(await checkPage('http://127.0.0.1:9')).toMatchObject({
    status: 'fail',
    message: expect.stringMatching(/^approvals.sign_in rejects every caller: http:\/\/127/),
    fix: 'check the settings of approvals.sign_in, and the way there',
  });
});

it('warns of a clock that differs by more than 30 s', async () => {
  const server = await startKeyServer();
  const from = (seconds: number) => {
    server.keys = (response) => {
      response.setHeader('date', new Date(Date.now() - seconds * 1_000).toUTCString());
      json({ keys: [{ kty: 'EC' }] })(response);
    };
    return check(oidc(server.issuer));
  };
  expect((await from(20)).status).toBe('pass');
  expect((await from(-20)).status).toBe('pass');
  expect(await from(3_600)).toEqual({
    status: 'warn',
    message: expect.stringMatching(/^the clock here and that of staff differ by 360[01] s$/),
    fix: 'set the clock of this machine by NTP',
  });
});

it('doctor fails a provider that refuses, and lists the worst first', async () => {
  const server = await startKeyServer();
  const { issuer } = server;
  const failing = (reason: string) => ({
    status: 'fail',
    message: `staff rejects every caller: ${reason}`,
    fix: fix('staff'),
  });
  server.keys = json({ keys: [] });
  expect(await check(oidc(issuer))).toEqual(
    failing(`${issuer}/keys must return a key set with at least one key`),
  );
  server.keys = (response) => void response.end('<p>');
  expect(await check(oidc(issuer))).toEqual(
    failing(`${issuer}/keys must return a key set with at least one key`),
  );
  server.metadata = json({}, 404);
  expect(await check(oidc(issuer))).toEqual(
    failing(`${issuer}/.well-known/openid-configuration answered 404; it must answer 200`),
  );
  expect(await check(oidc('http://127.0.0.1:2'))).toEqual(
    failing('http://127.0.0.1:2/.well-known/openid-configuration cannot be reached (ECONNREFUSED)'),
  );
  const broken = await startFakeService(says({}, 503));
  expect(await check(verifier(broken.url), oidc('http://127.0.0.1:2'))).toEqual({
    status: 'fail',
    message: `desk rejects every caller: ${broken.url} answered 503 (and 1 more)`,
    fix: fix('desk'),
  });
});
