import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../../helpers/patient.ts';
import {
  dies,
  drips,
  hangs,
  type Reply,
  redirects,
  says,
  startFakeService,
} from './fake-service.ts';
import { providing } from './verifying.ts';

const token = 'canary-77aa-bearer';
const ann = { valid: true, user_id: 'ann' };
const caller = (more: object = {}) => ({
  kind: 'verified',
  caller: { provider: 'staff', userId: 'ann', ...more },
});
const refused = (reason: string, message: string) => ({ kind: 'rejected', reason, message });
const unavailable = refused(
  'provider_unavailable',
  'the token verifier staff cannot be asked; try again later',
);
const unaccepted = refused('rejected', 'the token verifier staff does not accept the token');
const nobody = refused('rejected', 'the token verifier staff names no user');

async function asking(reply: Reply, settings: object = {}) {
  const service = await startFakeService(reply);
  const provider = providing('http_verifier', { url: `${service.url}/verify`, ...settings });
  return { service, ...provider };
}

describe('an HTTP verifier of the operator', () => {
  it('receives only the token and the organisation', async () => {
    const { service, verify } = await asking(says(ann), { default_org: 'home' });
    expect(await verify(token, 'acme')).toEqual(caller());
    expect(await verify(token)).toEqual(caller());
    expect(service.calls.map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual([
      ['POST', '/verify', { token, org_id: 'acme' }],
      ['POST', '/verify', { token, org_id: 'home' }],
    ]);
    const [{ headers } = { headers: {} }] = service.calls;
    expect(headers).toMatchObject({
      accept: 'application/json',
      'content-type': 'application/json',
    });
    expect(headers).not.toHaveProperty('authorization');
  });

  it.each<[string, object, object]>([
    [
      'everything',
      {
        ...ann,
        email: 'ann@a.io',
        org_id: 'o',
        workspace_id: 'w',
        claims: { acr: 'high', sub: 'eve', email: 'eve@a.io', org_id: 'x' },
        error: '',
      },
      caller({ email: 'ann@a.io', orgId: 'o', workspaceId: 'w', acr: 'high' }),
    ],
    ['only a user', { ...ann, email: '', org_id: null, claims: null }, caller()],
    ['odd values', { ...ann, email: 1, claims: { acr: ['high'] } }, caller()],
    [
      'an unverified email',
      { ...ann, email: 'a@a.io', claims: { email_verified: false } },
      caller(),
    ],
    ['claims that are not an object', { ...ann, claims: 'acr' }, caller()],
    ['no user', { valid: true, claims: { sub: 'eve' } }, nobody],
    ['a blank user', { valid: true, user_id: ' ' }, nobody],
    ['a user that is a number', { valid: true, user_id: 7 }, nobody],
    ['a user of unlimited length', { valid: true, user_id: 'x'.repeat(1_025) }, nobody],
    ['a no', { ...ann, valid: false, error: `no ${token}` }, unaccepted],
  ])('may answer with %s', async (_, answer, verdict) => {
    const { verify, log } = await asking(says(answer));
    expect(await verify(token, 'acme')).toStrictEqual(verdict);
    expect(log).toEqual([]);
  });

  it.each<[string, Reply]>([
    ['an error', says(ann, 500)],
    ['another refusal', says(ann, 401)],
    ['a redirect', redirects],
    ['no JSON', says('<p>yes</p>')],
    ['half of a body', says('{"valid":true,')],
    ['nothing', says('')],
    ['null', says('null')],
    ['a list', says([ann])],
    ['no valid', says({ user_id: 'ann' })],
    ['a valid field that is a string', says({ ...ann, valid: 'true' })],
    ['a valid field that is a number', says({ ...ann, valid: 1 })],
    ['more than 64 KiB', says({ ...ann, claims: { x: 'x'.repeat(65_536) } })],
    ['no UTF-8', (response) => void response.end(Buffer.from([0x22, 0xff, 0x22]))],
    ['a closed connection', dies],
    ['silence', hangs],
    ['an endless body', drips],
  ])('refuses the caller when it answers with %s', async (_, reply) => {
    const { service, verify, log } = await asking(reply, { timeout: '300ms' });
    const start = performance.now();
    expect(await verify(token)).toEqual(unavailable);
    expect(performance.now() - start).toBeLessThan(2_000);
    expect(service.calls.length).toBe(1);
    expect(log).toEqual([
      {
        level: 'warn',
        fields: { provider: 'staff', error: expect.stringMatching(/^the provider /) },
        message: 'authentication: a provider cannot be reached',
      },
    ]);
    expect(JSON.stringify(log)).not.toContain('canary');
    await verify(token);
    expect(log.length).toBe(1);
  });

  it('refuses the caller when it is not reachable', async () => {
    const { verify } = providing('http_verifier', { url: 'http://127.0.0.1:1/' });
    expect(await verify(token)).toEqual(unavailable);
  });

  it('is called once for equal concurrent tokens, and again for the next one', async () => {
    const { service, verify } = await asking(hangs);
    const replies: (() => void)[] = [];
    service.reply = (response) => void replies.push(() => says(ann)(response));
    const same = Array.from({ length: 20 }, () => verify(token, 'acme'));
    const others = [verify(token, 'other'), verify(`${token}2`, 'acme')];
    await vi.waitUntil(() => replies.length === 3, patient);
    for (const reply of replies.splice(0)) reply();
    expect(await Promise.all([...same, ...others])).toEqual(Array(22).fill(caller()));
    service.reply = says({ valid: false });
    expect(await verify(token, 'acme')).toEqual(unaccepted);
    expect(service.calls.length).toBe(4);
  });

  it('is called for at most 256 tokens at once', async () => {
    const { service, verify } = await asking(hangs, { timeout: '10s' });
    const replies: (() => void)[] = [];
    service.reply = (response) => void replies.push(() => says(ann)(response));
    const asked = Array.from({ length: 256 }, (_, index) => verify(`t${index}`));
    expect(await verify('one more')).toEqual(unavailable);
    await vi.waitUntil(() => replies.length === 256, { timeout: 10_000 });
    for (const reply of replies.splice(0)) reply();
    expect(await Promise.all(asked)).toEqual(Array(256).fill(caller()));
    service.reply = says(ann);
    expect(await verify('one more')).toEqual(caller());
  });

  it('is not called for a request without a bearer token', async () => {
    const { service, verdictOn } = await asking(says(ann));
    expect(await verdictOn({ bearer: null, iapAssertion: token, orgId: null })).toBeNull();
    expect(service.calls).toEqual([]);
  });
});
