import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importJWK, jwtVerify } from 'jose';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { origin, park, signedIn, startDesk, token, verified } from '../helpers/approvals-desk.ts';
import {
  type FakePushService,
  PushedBrowser,
  startPushService,
} from '../helpers/fake-push-service.ts';
import { patient } from '../helpers/patient.ts';
import { reached, startTestAgent } from '../helpers/test-agent.ts';

async function startNotifiedDesk(rule: object = {}, page: object = {}) {
  const service = await startPushService();
  const desk = await startDesk({
    rule: { approvers: ['ann@example.com'], ...rule },
    page: { push_services: [service.origin, 'fcm.googleapis.com'], ...page },
    people: {
      ann: verified('ann@example.com'),
      bob: verified('bob@example.com', { groups: ['finance'] }),
      shop: verified('shop@example.com'),
    },
    signIn: { groups_claim: 'groups' },
    hasRefreshTokens: true,
  });
  return { ...desk, service };
}

async function subscribe(desk: Awaited<ReturnType<typeof startNotifiedDesk>>, person: string) {
  const visitor = await signedIn(desk, person);
  const browser = new PushedBrowser(desk.service.origin);
  expect((await visitor.api('devices', browser.subscription)).status).toBe(201);
  return { visitor, browser };
}

const until = (service: FakePushService, count: number) =>
  vi.waitUntil(() => service.received.length >= count, patient);

describe('notifications of the approvals page', () => {
  it('contain only the number of waiting calls, encrypted, for the people who may decide', async () => {
    const desk = await startNotifiedDesk();
    const ann = await subscribe(desk, 'ann');
    const bob = await subscribe(desk, 'bob');
    await park(desk.agent);
    await until(desk.service, 1);
    expect(ann.browser.texts(desk.service)).toEqual(['{"waiting":1}']);
    expect(bob.browser.texts(desk.service)).toEqual([]);
    const [{ headers, body } = { headers: {} as Record<string, string>, body: Buffer.of() }] =
      desk.service.received;
    expect(headers).toMatchObject({
      'content-encoding': 'aes128gcm',
      ...{ ttl: '3600', urgency: 'high', topic: 'waiting' },
    });
    expect(body.includes('waiting')).toBe(false);
    const { public_key } = (await ann.visitor.api('devices')).body;
    const [, jwt = '', key] = /^vapid t=(\S+), k=(\S+)$/.exec(headers['authorization'] ?? '') ?? [];
    expect(key).toBe(public_key);
    const point = Buffer.from(public_key, 'base64url');
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
      part.toString('base64url'),
    );
    const verifier = await importJWK({ kty: 'EC', crv: 'P-256', x: x ?? '', y: y ?? '' }, 'ES256');
    const { payload } = await jwtVerify(jwt, verifier, { audience: desk.service.origin });
    expect(payload.sub).toBe(origin);
  });

  it('follow the group of the sign-in, and exclude the requester under four eyes', async () => {
    const desk = await startNotifiedDesk({
      approvers: ['group:finance', 'shop@example.com'],
      four_eyes: true,
    });
    const bob = await subscribe(desk, 'bob');
    const shop = await subscribe(desk, 'shop');
    await park(desk.agent);
    await until(desk.service, 1);
    expect(bob.browser.texts(desk.service)).toEqual(['{"waiting":1}']);
    expect(shop.browser.texts(desk.service)).toEqual([]);
  });

  it('report calls that begin together once, and are retried after a failure', async () => {
    const desk = await startNotifiedDesk();
    const ann = await subscribe(desk, 'ann');
    desk.service.answers.push(503);
    const caller = desk.agent.as(token);
    for (const id of ['t1', 't2', 't3']) {
      void caller.send(id, [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }]);
    }
    for (const id of ['t1', 't2', 't3']) await reached(caller, id, 'deferred');
    await until(desk.service, 2);
    expect(ann.browser.texts(desk.service).at(-1)).toBe('{"waiting":3}');
    expect(desk.service.received).toHaveLength(2);
  });

  it('end with the sign-out of the session, with a removal, and with 410 from a push service', async () => {
    const desk = await startNotifiedDesk();
    const first = await subscribe(desk, 'ann');
    const second = await subscribe(desk, 'ann');
    const third = await subscribe(desk, 'ann');
    const devices = async () =>
      ((await third.visitor.api('devices')).body.devices as { id: string }[]).map(({ id }) => id);
    expect((await devices()).sort()).toEqual(
      [first, second, third].map(({ browser }) => browser.id).sort(),
    );
    expect((await first.visitor.api('sign-out', {})).status).toBe(200);
    expect(await devices()).not.toContain(first.browser.id);
    const bob = await signedIn(desk, 'bob');
    const path = `devices/${second.browser.id}/removal`;
    expect((await bob.api(path, {})).status).toBe(404);
    expect((await second.visitor.api(path, {})).status).toBe(204);
    desk.service.answers.push(410);
    await park(desk.agent);
    await until(desk.service, 1);
    await vi.waitUntil(async () => (await devices()).length === 0, patient);
    expect(desk.service.received.map(({ path: to }) => to)).toEqual([
      new URL(third.browser.endpoint).pathname,
    ]);
  });

  it('end with the session of a person whom the issuer refuses', async () => {
    const desk = await startNotifiedDesk({ approvers: ['ann@example.com', 'bob@example.com'] });
    const bob = await subscribe(desk, 'bob');
    const ann = await subscribe(desk, 'ann');
    // The clock of the daemon.
    const now = performance.now.bind(performance);
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + 61_000);
    onTestFinished(() => spy.mockRestore());
    desk.issuer.disabled.add('bob');
    const asked = {
      to: 'ann@example.com',
      until: new Date(Date.now() + 3_600_000).toISOString(),
    };
    expect((await bob.visitor.api('delegations', asked)).status).toBe(401);
    await park(desk.agent);
    await until(desk.service, 1);
    expect(ann.browser.texts(desk.service)).toEqual(['{"waiting":1}']);
    expect(bob.browser.texts(desk.service)).toEqual([]);
  });

  it('end for the devices of a push service that was removed from the settings', async () => {
    const desk = await startNotifiedDesk();
    const kept = await startPushService();
    const { folder } = desk.agent;
    const restart = async (from: string, to: string) => {
      await desk.agent.stop();
      const file = join(folder.path, 'service.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
      desk.agent = await startTestAgent({}, { folder });
      ann.visitor.agentUrl = desk.agent.url;
    };
    const ann = await subscribe(desk, 'ann');
    await restart('fcm.googleapis.com', kept.origin);
    const browser = new PushedBrowser(kept.origin);
    expect((await ann.visitor.api('devices', browser.subscription)).status).toBe(201);
    await restart(desk.service.origin, 'fcm.googleapis.com');
    const { devices } = (await ann.visitor.api('devices')).body;
    expect(devices.map(({ id }: { id: string }) => id)).toEqual([browser.id]);
    await park(desk.agent);
    await until(kept, 1);
    expect(desk.service.received).toEqual([]);
  });

  it.each([
    'http://10.0.0.1/push',
    'https://10.0.0.1/push',
    'https://127.0.0.1/push',
    'http://fcm.googleapis.com/push',
    'https://fcm.googleapis.com:8443/push',
    'https://user@fcm.googleapis.com/push',
    'https://fcm.googleapis.com.example.com/push',
    'file:///etc/passwd',
    'nothing',
  ])('are not sent to %s', async (endpoint) => {
    const desk = await startNotifiedDesk();
    const ann = await signedIn(desk);
    const { keys } = new PushedBrowser(desk.service.origin);
    expect((await ann.api('devices', { endpoint, keys })).status).toBe(400);
    expect((await ann.api('devices')).body.devices).toEqual([]);
  });

  it('belong to at most ten devices of a person, and to the last person of a browser', async () => {
    const desk = await startNotifiedDesk();
    const ann = await signedIn(desk);
    const browsers = Array.from({ length: 11 }, () => new PushedBrowser(desk.service.origin));
    const answers = [];
    for (const one of browsers) answers.push(await ann.api('devices', one.subscription));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(201), 400]);
    const bob = await signedIn(desk, 'bob');
    expect((await bob.api('devices', browsers[0]?.subscription)).status).toBe(201);
    expect((await bob.api('devices')).body.devices).toHaveLength(1);
    expect((await ann.api('devices')).body.devices).toHaveLength(9);
    const { keys } = browsers[0] as PushedBrowser;
    const odd = { endpoint: browsers[1]?.endpoint, keys: { ...keys, auth: 'AAAA' } };
    expect((await bob.api('devices', odd)).status).toBe(400);
  });
});
