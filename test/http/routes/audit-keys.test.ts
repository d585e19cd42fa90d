import Koa from 'koa';
import { expect, it } from 'vitest';
import type { RequestState } from '../../../src/http/request-state.ts';
import { type AuditKeysPorts, auditKeyRoutes } from '../../../src/http/routes/audit-keys.ts';
import type { Route } from '../../../src/http/routes/route.ts';
import { testKey } from '../../actors/records/log/log-of.ts';

type Answer = Route['answer'];

/** Returns the answer of a route of the keys. */
function answerAt(path: string, ports: AuditKeysPorts = {}): Answer {
  return (auditKeyRoutes(ports)[`GET /.well-known/${path}`] as Route).answer;
}

async function answerOf(route: Answer): Promise<unknown> {
  const { response, text } = await responseOf(route, {});
  return { type: response.headers.get('content-type'), body: JSON.parse(text) };
}

async function responseOf(route: Answer, headers: Record<string, string>) {
  const app = new Koa<RequestState>();
  app.use(async (ctx) => void (await route(ctx as Parameters<Answer>[0])));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address() as { port: number };
  const response = await fetch(`http://127.0.0.1:${address.port}/`, { headers });
  const text = await response.text();
  await new Promise((resolve) => server.close(resolve));
  return { response, text };
}

it('the keys of the log are published as a JWKS, and none while it is unsigned', async () => {
  const keys = [testKey('new', 1).publicKey, testKey('old', 2).publicKey];
  const type = 'application/json; charset=utf-8';
  expect(await answerOf(answerAt('service-audit-keys', { auditKeys: { keys } }))).toEqual({
    type,
    body: { keys },
  });
  expect(await answerOf(answerAt('service-audit-keys'))).toEqual({ type, body: { keys: [] } });
});

it('caches may keep the keys, and a known ETag gets 304', async () => {
  const keys = [testKey('new', 1).publicKey];
  const route = answerAt('audit-keys.json', { auditKeys: { keys } });
  const { response, text } = await responseOf(route, {});
  expect(JSON.parse(text)).toEqual({ keys });
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  const tag = response.headers.get('etag') ?? '';
  const known = await responseOf(route, { 'if-none-match': tag });
  expect([known.response.status, known.text]).toEqual([304, '']);
  expect((await responseOf(route, { 'if-none-match': '"other"' })).response.status).toBe(200);
});
