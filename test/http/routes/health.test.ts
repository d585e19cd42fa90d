import Koa from 'koa';
import { expect, it } from 'vitest';
import type { RequestState } from '../../../src/http/request-state.ts';
import { auditKeys } from '../../../src/http/routes/health.ts';
import { testKey } from '../../actors/records/log/log-of.ts';

async function answerOf(route: ReturnType<typeof auditKeys>): Promise<unknown> {
  const app = new Koa<RequestState>();
  app.use((ctx) => route(ctx as Parameters<typeof route>[0]));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address() as { port: number };
  const response = await fetch(`http://127.0.0.1:${address.port}/`);
  const body: unknown = await response.json();
  await new Promise((resolve) => server.close(resolve));
  return { type: response.headers.get('content-type'), body };
}

it('publishes the keys of the log as a JWKS, and none while it is unsigned', async () => {
  const keys = [testKey('new', 1).publicKey, testKey('old', 2).publicKey];
  const type = 'application/json; charset=utf-8';
  expect(await answerOf(auditKeys({ auditKeys: { keys } }))).toEqual({ type, body: { keys } });
  expect(await answerOf(auditKeys())).toEqual({ type, body: { keys: [] } });
});
