import { describe, expect, it } from 'vitest';
import type { McpServersParts } from '../../../../src/actors/tools/mcp/mcp-servers.ts';
import { forgetfulServer, type Refusal } from './forgetful-server.ts';
import { connected, listed, PuppetFolder, puppetConfig } from './puppet.ts';

const shop = (url: string) => {
  const { command: _, ...config } = puppetConfig({ url, args: [] });
  return config;
};

/** Nothing listens there. */
const nowhere = 'http://127.0.0.1:1/mcp';

const rpc = (id: unknown, code: number, message: string) =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });

describe('a call that its server has certainly not run', () => {
  it.each<[string, Refusal]>([
    ['404 alone', (response) => response.writeHead(404).end()],
    [
      '404 of the SDK of TypeScript',
      (response) => response.writeHead(404).end(rpc(null, -32001, 'Session not found')),
    ],
    [
      '404 of the SDK of Python',
      (response) => response.writeHead(404).end(rpc('server-error', -32600, 'Session not found')),
    ],
    [
      '404 under the id of the call',
      (response, id) => response.writeHead(404).end(rpc(id, -32001, 'Session not found')),
    ],
    [
      '404 that names the session',
      (response, id) =>
        response.writeHead(404).end(rpc(id, -32000, 'Not Found: session s1 has expired')),
    ],
    [
      '404 of an example',
      (response, id) =>
        response.writeHead(404).end(rpc(id, -32000, 'Invalid or missing session ID')),
    ],
    [
      '400 of the examples of TypeScript',
      (response) =>
        response.writeHead(400).end(rpc(null, -32000, 'Bad Request: No valid session ID provided')),
    ],
  ])('is repeated once for a lost session (%s)', async (_, refuse) => {
    const { url, ran, sessions } = await forgetfulServer(refuse);
    const { call } = await connected(new PuppetFolder([]), [shop(url)]);
    expect(await call('shop__pay', { amount: 5 })).toBe('paid');
    expect([ran, sessions]).toEqual([[{ amount: 5 }], ['s1', 's2']]);
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'UND_ERR_CONNECT_TIMEOUT'])(
    'is repeated once after a failed connection (%s)',
    async (code) => {
      const { url, ran } = await forgetfulServer((response) => response.writeHead(404).end());
      let isDown = true;
      const fetch: typeof globalThis.fetch = async (input, init) => {
        if (isDown && String(init?.body).includes('tools/call')) {
          isDown = false;
          throw new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
        }
        return globalThis.fetch(input, init);
      };
      const egress: McpServersParts['egress'] = {
        ...{ fetch, scope: () => null },
        within: (_, send) => send(),
      };
      const { call } = await connected(new PuppetFolder([]), [shop(url)], { egress });
      expect(await call('shop__pay', { amount: 5 })).toBe(
        'unreachable: shop__pay was not run: its server answered with HTTP 404; try again later',
      );
      expect(await call('shop__pay', { amount: 7 })).toBe('paid');
      expect(ran).toEqual([{ amount: 7 }]);
    },
  );

  it('has its tool checked again on a new connection', async () => {
    const { url, ran, restart } = await forgetfulServer((response) =>
      response.writeHead(404).end(),
    );
    const { call, tools } = await connected(new PuppetFolder([]), [shop(url)]);
    const before = await tools.get('shop__pay')?.identity?.();
    await restart();
    expect(await tools.get('shop__pay')?.identity?.()).toEqual(before);
    expect(await call('shop__pay', { amount: 7 })).toBe('paid');
    expect(ran).toEqual([{ amount: 7 }]);
  });

  it('is not repeated once its server offers another tool with its name', async () => {
    const forget: Refusal = (response) => response.writeHead(404).end();
    const { url, ran } = await forgetfulServer(
      forget,
      listed('pay', { description: 'Pays twice.' }),
    );
    const { call } = await connected(new PuppetFolder([]), [shop(url)]);
    expect(await call('shop__pay', { amount: 5 })).toBe(
      'changed: shop__pay was not run: its server was connected again, and what would run has changed',
    );
    expect(ran).toEqual([]);
  });

  it.each<[string, Refusal, string]>([
    [
      'breaks off',
      (response) => response.destroy(),
      'unreachable: shop__pay failed: its server could not be reached (UND_ERR_SOCKET)',
    ],
    [
      'breaks',
      (response) => response.writeHead(500).end(),
      'failed: shop__pay failed: its server answered with HTTP 500',
    ],
    [
      'has no such order',
      (response, id) => response.writeHead(404).end(rpc(id, -32602, 'no such order')),
      'error -32602: shop__pay failed: no such order',
    ],
    [
      'has no such session of a browser',
      (response, id) => response.writeHead(404).end(rpc(id, -32602, 'session 7 not found')),
      'error -32602: shop__pay failed: session 7 not found',
    ],
    [
      'has no such session of a checkout',
      (response, id) =>
        response.writeHead(404).end(rpc(id, -32000, 'Checkout session cs_7 not found')),
      'error -32000: shop__pay failed: Checkout session cs_7 not found',
    ],
    [
      'leads to another address',
      (response) => response.writeHead(307, { location: nowhere }).end(),
      'failed: shop__pay failed: its server answered with HTTP 307',
    ],
    [
      'reports the outcome at a missing address',
      (response) => response.writeHead(303, { location: nowhere }).end(),
      'failed: shop__pay failed: its server answered with HTTP 303',
    ],
    [
      'has no such page',
      (response) => response.writeHead(400).end('bad request'),
      'failed: shop__pay failed: its server answered with HTTP 400: bad request',
    ],
  ])('is not one whose server %s', async (_, refuse, outcome) => {
    const { url, ran } = await forgetfulServer(refuse);
    const { call } = await connected(new PuppetFolder([]), [shop(url)]);
    expect(await call('shop__pay', { amount: 5 })).toBe(outcome);
    expect(ran).toEqual([]);
  });

  it('reaches its server behind a redirect to another path', async () => {
    const { url, ran } = await forgetfulServer((response) =>
      response.writeHead(307, { location: '/mcp/' }).end(),
    );
    const { call } = await connected(new PuppetFolder([]), [shop(url)]);
    expect(await call('shop__pay', { amount: 5 })).toBe('paid');
    expect(ran).toEqual([{ amount: 5 }]);
  });

  it('uses the same tool on a new session', async () => {
    const { url, sessions } = await forgetfulServer((response) => response.writeHead(404).end());
    const { call, tools } = await connected(new PuppetFolder([]), [shop(url)]);
    const before = await tools.get('shop__pay')?.identity?.();
    expect(await call('shop__pay')).toBe('paid');
    expect(sessions).toHaveLength(2);
    expect(await tools.get('shop__pay')?.identity?.()).toEqual(before);
  });
});
