import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { PushedBrowser, startPushService } from '../helpers/fake-push-service.ts';
import { patient } from '../helpers/patient.ts';
import { PostgresServer } from '../helpers/postgres-server.ts';
import { startReplicas } from '../helpers/replicas.ts';
import { SoftPasskey } from '../helpers/soft-passkey.ts';
import { deferring, reached } from '../helpers/test-agent.ts';
import { startWebIssuer, webClient } from '../helpers/web-issuer.ts';
import { WebVisitor } from '../helpers/web-visitor.ts';

vi.setConfig({ testTimeout: 60_000 });

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.remove());

const origin = 'https://approvals.example.com';
const token = 'token-of-the-program';

it('daemons share a sign-in, its session and its end', async () => {
  const issuer = await startWebIssuer({
    redirectUri: `${origin}/approvals/callback`,
    people: { ann: { email: 'ann@example.com', email_verified: true } },
  });
  issuer.person = 'ann';
  const shop = { type: 'static_token', name: 'shop', settings: { token } };
  const { a, b, c } = await startReplicas(server, {
    ...deferring({ approvers: ['ann@example.com'] }),
    approvals: {
      public_url: origin,
      sign_in: { issuer: issuer.issuer, client_id: webClient },
    },
    auth: { providers: [shop] },
  });
  const answer = a.as(token).send('t1', [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }]);
  const { metadata } = await reached(a.as(token), 't1', 'deferred');
  const { id: deferral_id, args_sha256 } = metadata.deferral;

  const ann = new WebVisitor(origin, a.url);
  const stop = (url: string) => url.startsWith(`${origin}/approvals/callback`);
  const { url: callback } = await ann.open('/approvals/sign-in', stop);
  ann.agentUrl = b.url;
  expect((await ann.open(callback)).url).toBe(`${origin}/approvals/`);
  ann.agentUrl = c.url;
  ann.csrf = (await ann.api('session')).body.csrf;
  const decision = { decision: 'approve', deferral_id, args_sha256 };
  expect((await ann.api('tasks/t1/decisions', decision)).status).toBe(200);
  expect((await answer).body.status.state).toBe('completed');

  const stolen = new Map(ann.cookies.get('approvals.example.com'));
  const statuses = () =>
    Promise.all(
      [a, b, c].map(async ({ url }) => {
        const thief = new WebVisitor(origin, url);
        thief.cookies.set('approvals.example.com', new Map(stolen));
        return (await thief.api('session')).status;
      }),
    );
  expect(await statuses()).toEqual([200, 200, 200]);
  ann.agentUrl = a.url;
  expect((await ann.api('sign-out', {})).status).toBe(200);
  expect(await statuses()).toEqual([401, 401, 401]);
});

it('daemons share passkeys, their challenges and devices, and send one push for a call', async () => {
  const service = await startPushService();
  const issuer = await startWebIssuer({
    redirectUri: `${origin}/approvals/callback`,
    people: { ann: { email: 'ann@example.com', email_verified: true } },
  });
  issuer.person = 'ann';
  const shop = { type: 'static_token', name: 'shop', settings: { token } };
  const { a, b, c } = await startReplicas(server, {
    ...deferring({ approvers: ['ann@example.com'], require_passkey: true }),
    approvals: {
      public_url: origin,
      sign_in: { issuer: issuer.issuer, client_id: webClient },
      push_services: [service.origin],
      passkey_delay: '1ms',
    },
    auth: { providers: [shop] },
  });
  const ann = new WebVisitor(origin, a.url);
  await ann.signIn();
  const browser = new PushedBrowser(service.origin);
  expect((await ann.api('devices', browser.subscription)).status).toBe(201);
  const keys = [];
  for (const { url } of [a, b, c]) {
    ann.agentUrl = url;
    keys.push((await ann.api('devices')).body.public_key);
  }
  expect(new Set(keys).size).toBe(1);

  const key = new SoftPasskey(origin);
  const registration = (await ann.api('passkeys/questions', {})).body;
  ann.agentUrl = b.url;
  const response = key.register(registration.options);
  const named = { name: 'Phone', nonce: registration.nonce, response };
  expect((await ann.api('passkeys', named)).status).toBe(201);

  const answer = a.as(token).send('t1', [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }]);
  const { metadata } = await reached(a.as(token), 't1', 'deferred');
  const { id: deferral_id, args_sha256 } = metadata.deferral;
  await vi.waitUntil(() => service.received.length > 0, patient);
  const decision = { decision: 'approve', deferral_id, args_sha256 };
  const question = (await ann.api('tasks/t1/questions', decision)).body;
  const passkey = { nonce: question.nonce, response: key.confirm(question.options) };
  const sent = { ...decision, passkey };
  ann.agentUrl = c.url;
  expect((await ann.api('tasks/t1/decisions', sent)).status).toBe(200);
  expect((await answer).body.status.state).toBe('completed');
  const again = await ann.api('tasks/t1/decisions', sent);
  expect(again.status).not.toBe(200);

  expect(browser.texts(service)).toEqual(['{"waiting":1}']);
});
