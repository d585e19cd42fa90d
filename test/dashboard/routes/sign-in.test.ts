import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, it, vi } from 'vitest';
import '../../../src/dashboard/sign-in/sign-ins.ts';
import '../../../src/dashboard/workspace/agent-maker.ts';
import type { Log } from '../../../src/actors/ports/log.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { clientId, type SignInServer, startSignInServer } from '../../helpers/sign-in-server.ts';
import { openDashboard, type TestDashboard } from '../../helpers/test-dashboard.ts';

vi.setConfig({ testTimeout: 120_000 });

const agent = { name: 'desk', provider: 'openai' };

function environmentFor(issuer: string, tokenUrl = `${issuer}/token`) {
  return {
    ...process.env,
    SERVICE_OAUTH_CLIENT_ID: clientId,
    SERVICE_OAUTH_ISSUER: issuer,
    SERVICE_OAUTH_AUTHORIZATION_URL: `${issuer}/auth`,
    SERVICE_OAUTH_TOKEN_URL: tokenUrl,
    SERVICE_OAUTH_SCOPE: 'openid',
  };
}

async function open(): Promise<{ server: SignInServer; dashboard: TestDashboard }> {
  const server = await startSignInServer();
  const dashboard = await openDashboard(undefined, { env: environmentFor(server.issuer) });
  return { server, dashboard };
}

async function start(dashboard: TestDashboard): Promise<{ url: string; state: string }> {
  const { status, body } = await dashboard.post('/api/oauth/start', {});
  expect([status, Object.keys(body).toSorted()]).toEqual([200, ['state', 'url']]);
  return body as { url: string; state: string };
}

async function statusOf(dashboard: TestDashboard, state: string): Promise<unknown> {
  return (await dashboard.get(`/api/oauth/status?state=${encodeURIComponent(state)}`)).body;
}

it('a sign-in succeeds, shows no token, and keeps it for one agent', async () => {
  const said: unknown[] = [];
  const note = (...all: unknown[]) => void said.push(all);
  const log: Log = { info: note, warn: note, error: note };
  const server = await startSignInServer();
  const dashboard = await openDashboard(undefined, { log, env: environmentFor(server.issuer) });
  const { body: meta } = await dashboard.get('/api/wizard/meta');
  const able = meta.providers.filter(({ sign_in: signIn }: { sign_in: boolean }) => signIn);
  expect(able.map(({ name }: { name: string }) => name)).toEqual(['openai']);
  const { url, state } = await start(dashboard);
  expect(new URL(url).searchParams.get('code_challenge_method')).toBe('S256');
  expect(await statusOf(dashboard, state)).toEqual({ status: 'pending' });
  const model = { name: 'gpt-5', session: state };
  expect((await dashboard.post('/api/create', { ...agent, model })).status).toBe(400);
  const callback = await server.walk(url);
  const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  const back = await fetch(callback, { headers });
  expect([back.status, back.headers.get('cache-control')]).toEqual([200, 'no-store']);
  const answers = [await back.text(), await statusOf(dashboard, state)];
  expect(answers[1]).toEqual({ status: 'done' });
  const created = await dashboard.post('/api/create', { ...agent, model });
  expect(created.status).toBe(201);
  const env = readFileSync(join(dashboard.workspace, 'desk', '.service', '.env'), 'utf8');
  const { OPENAI_API_KEY: token = '' } = parseEnv(env);
  expect(token.length).toBeGreaterThan(20);
  const second = await dashboard.post('/api/create', { ...agent, name: 'other', model });
  expect([second.status, second.body.error]).toEqual([
    400,
    expect.stringContaining('sign in again'),
  ]);
  const seen = [answers, created, second, said, (await dashboard.get('/api/agents')).body];
  expect(JSON.stringify(seen)).not.toContain(token);
  expect(server.asked).toEqual(['/token']);
});

it('every client learns that a sign-in has changed, and none which one', async () => {
  const { server, dashboard } = await open();
  const events = await dashboard.stream('/api/events');
  expect((await events.next())?.event).toBe('reset');
  const { url, state } = await start(dashboard);
  await fetch(await server.walk(url));
  const { event, data } = (await events.next())!;
  expect({ event, data }).toEqual({ event: 'sign_in', data: {} });
  expect(await statusOf(dashboard, state)).toEqual({ status: 'done' });
  events.leave();
});

it('the token is returned when no agent could be created with it', async () => {
  const { server, dashboard } = await open();
  const { url, state } = await start(dashboard);
  await fetch(await server.walk(url));
  await dashboard.post('/api/create', { name: 'desk' });
  const model = { name: 'gpt-5', session: state };
  expect((await dashboard.post('/api/create', { ...agent, model })).status).toBe(409);
  const again = await dashboard.post('/api/create', { ...agent, name: 'other', model });
  expect(again.status).toBe(201);
});

it('a callback with another state is ignored, and the sign-in is not changed', async () => {
  const { server, dashboard } = await open();
  const { url, state } = await start(dashboard);
  const callback = new URL(await server.walk(url));
  for (const wrong of ['', 'x', `${state}x`]) {
    callback.searchParams.set('state', wrong);
    expect((await fetch(callback)).status).toBe(400);
  }
  expect(await statusOf(dashboard, state)).toEqual({ status: 'pending' });
  expect(server.asked).toEqual([]);
  expect((await dashboard.get('/api/oauth/status?state=x')).status).toBe(404);
  expect((await dashboard.get('/api/oauth/status')).status).toBe(404);
});

it('a callback is used once, so that a replay changes nothing and sends nothing', async () => {
  const { server, dashboard } = await open();
  const { url, state } = await start(dashboard);
  const callback = await server.walk(url);
  const both = await Promise.all([fetch(callback), fetch(callback)]);
  expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await fetch(callback)).status).toBe(400);
  expect(await statusOf(dashboard, state)).toEqual({ status: 'done' });
  expect(server.asked).toEqual(['/token']);
});

it('a denied consent is reported, without text of the provider', async () => {
  const { server, dashboard } = await open();
  server.refuses = true;
  const { url, state } = await start(dashboard);
  const answer = await fetch(await server.walk(url));
  expect([answer.status, await answer.text()]).toEqual([
    400,
    expect.not.stringContaining('CANARY'),
  ]);
  const error = 'the provider was not allowed to sign you in';
  expect(await statusOf(dashboard, state)).toEqual({ status: 'failed', error });
  expect(server.asked).toEqual([]);
});

it('the code of another sign-in leads to no token', async () => {
  const { server, dashboard } = await open();
  const [mine, theirs] = [await start(dashboard), await start(dashboard)];
  const callback = new URL(await server.walk(theirs.url));
  callback.searchParams.set('state', mine.state);
  expect((await fetch(callback)).status).toBe(400);
  const error = 'the provider gave no token for the code; sign in again';
  expect(await statusOf(dashboard, mine.state)).toEqual({ status: 'failed', error });
  expect(await statusOf(dashboard, theirs.state)).toEqual({ status: 'pending' });
});

it('only the token endpoint is called, and no redirect from it is followed', async () => {
  const reached: string[] = [];
  const elsewhere = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.end('{}');
  });
  const target = await listenOnLoopback(elsewhere);
  const endpoint = createServer((_, response) => {
    response.writeHead(307, { location: `${target}/stolen` }).end();
  });
  const tokenUrl = `${await listenOnLoopback(endpoint)}/token`;
  const server = await startSignInServer();
  const env = environmentFor(server.issuer, tokenUrl);
  const dashboard = await openDashboard(undefined, { env });
  const { url, state } = await start(dashboard);
  await fetch(await server.walk(url));
  expect(await statusOf(dashboard, state)).toMatchObject({ status: 'failed' });
  expect([reached, server.asked]).toEqual([[], []]);
});

it('no sign-in begins for a provider without one, without a client id, or for another site', async () => {
  const dashboard = await openDashboard();
  const { status, body } = await dashboard.post('/api/oauth/start', {});
  expect([status, body.error]).toEqual([400, expect.stringContaining('SERVICE_OAUTH_CLIENT_ID')]);
  const env = environmentFor('http://id.example.com');
  const { body: wrong } = await (await openDashboard(undefined, { env })).post(
    '/api/oauth/start',
    {},
  );
  expect(wrong.error).toContain('must be https');
  const { dashboard: able } = await open();
  expect((await able.post('/api/oauth/start', { provider: 'google' })).status).toBe(400);
  const origin = { origin: 'https://evil.example.com' };
  expect((await able.post('/api/oauth/start', {}, origin)).status).toBe(403);
});

it('a canceled sign-in refuses a late callback, exchanges no code, and creates no agent', async () => {
  const { server, dashboard } = await open();
  const { url, state } = await start(dashboard);
  const callback = await server.walk(url);
  const off = await dashboard.post('/api/oauth/cancel', { state });
  const failed = { status: 'failed', error: 'it was called off' };
  expect([off.status, off.body]).toEqual([200, failed]);
  const late = await fetch(callback);
  expect([late.status, await late.text(), late.headers.get('cache-control')]).toEqual([
    400,
    'This sign-in was canceled. Close this page.\n',
    'no-store',
  ]);
  expect(await statusOf(dashboard, state)).toEqual(failed);
  expect(server.asked).toEqual([]);
  const model = { name: 'gpt-5', session: state };
  expect((await dashboard.post('/api/create', { ...agent, model })).status).toBe(400);
});

it('a canceled sign-in drops its token when it is done, and keeps one that an agent uses', async () => {
  const { server, dashboard } = await open();
  const done = await start(dashboard);
  await fetch(await server.walk(done.url));
  expect((await dashboard.post('/api/oauth/cancel', { state: done.state })).status).toBe(200);
  const model = { name: 'gpt-5', session: done.state };
  expect((await dashboard.post('/api/create', { ...agent, model })).status).toBe(400);
  const used = await start(dashboard);
  await fetch(await server.walk(used.url));
  const created = { ...agent, model: { ...model, session: used.state } };
  expect((await dashboard.post('/api/create', created)).status).toBe(201);
  const late = await dashboard.post('/api/oauth/cancel', { state: used.state });
  expect([late.status, late.body.error]).toEqual([409, 'this sign-in is already used by an agent']);
  expect(await statusOf(dashboard, used.state)).toEqual({ status: 'done' });
});

it('an unknown or unnamed sign-in, or one of another site, is not canceled', async () => {
  const { dashboard } = await open();
  const { state } = await start(dashboard);
  expect((await dashboard.post('/api/oauth/cancel', { state: 'x' })).status).toBe(404);
  expect((await dashboard.post('/api/oauth/cancel', {})).status).toBe(400);
  const origin = { origin: 'https://evil.example.com' };
  expect((await dashboard.post('/api/oauth/cancel', { state }, origin)).status).toBe(403);
  expect(await statusOf(dashboard, state)).toEqual({ status: 'pending' });
});

it('an exchange in progress is canceled', async () => {
  let asked = (): void => undefined;
  const reached = new Promise<void>((resolve) => (asked = resolve));
  const endpoint = createServer(() => asked());
  const tokenUrl = `${await listenOnLoopback(endpoint)}/token`;
  const server = await startSignInServer();
  const env = environmentFor(server.issuer, tokenUrl);
  const dashboard = await openDashboard(undefined, { env });
  const { url, state } = await start(dashboard);
  const back = fetch(await server.walk(url));
  await reached;
  expect((await dashboard.post('/api/oauth/cancel', { state })).status).toBe(200);
  expect([(await back).status, await (await back).text()]).toEqual([
    400,
    expect.stringContaining('canceled'),
  ]);
});
