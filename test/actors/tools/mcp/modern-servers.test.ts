import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../helpers/patient.ts';
import { modernServer } from './modern-puppet.mjs';
import { connected, listed, PuppetFolder, puppetConfig } from './puppet.ts';

/** A server of 2026-07-28 over HTTP, the requests that it received, and its tools, which a test may replace. */
async function modernHttp(first: readonly object[], plays: object = {}) {
  let tools = first;
  const asked: { headers: Headers; body: any }[] = [];
  const handler = createMcpHandler(() => modernServer(() => tools, plays), { legacy: 'reject' });
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const body = Buffer.concat(await incoming.toArray()).toString();
    const headers = new Headers(incoming.headers as Record<string, string>);
    if (body !== '') asked.push({ headers, body: JSON.parse(body) });
    const gone = new AbortController();
    outgoing.on('close', () => gone.abort());
    const { method = 'POST' } = incoming;
    const init = { method, headers, signal: gone.signal, ...(body === '' ? {} : { body }) };
    const answer = await handler.fetch(new Request('http://shop.test/mcp', init));
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers)).flushHeaders();
    for await (const chunk of answer.body ?? []) outgoing.write(chunk);
    outgoing.end();
  };
  const server = createServer((incoming, outgoing) => void serve(incoming, outgoing));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const { command: _, ...shop } = puppetConfig({ url: `http://127.0.0.1:${port}/mcp`, args: [] });
  return {
    shop,
    asked,
    methods: () => asked.map(({ body }) => body.method),
    offer: (next: readonly object[]) => void (tools = next),
    announce: () => handler.notify.toolsChanged(),
  };
}

describe('a server of MCP 2026-07-28 over HTTP', () => {
  it('is detected, and gets version, capabilities and headers with each request', async () => {
    const amount = { type: 'integer', 'x-mcp-header': 'Amount' };
    const inputSchema = { type: 'object', properties: { amount } };
    const { shop, asked, methods } = await modernHttp([listed('pay', { inputSchema })]);
    const { call, warnings } = await connected(new PuppetFolder([]), [shop]);
    expect(await call('shop__pay', { amount: 5 })).toBe('{"amount":5}');
    expect(warnings()).toEqual([]);
    expect(methods().filter((method) => method !== 'subscriptions/listen')).toEqual([
      'server/discover',
      'tools/list',
      'tools/call',
    ]);
    const { headers, body } = asked.at(-1) ?? { headers: new Headers() };
    expect(body.params).toEqual({
      name: 'pay',
      arguments: { amount: 5 },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'holdpoint', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {
          extensions: { 'io.modelcontextprotocol/tasks': {} },
        },
        'holdpoint/separate': true,
        progressToken: expect.any(Number),
      },
    });
    expect(
      ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-param-amount', 'mcp-session-id'].map(
        (name) => headers.get(name),
      ),
    ).toEqual(['2026-07-28', 'tools/call', 'pay', '5', null]);
  });

  it('has its valid tools, and loses only an invalid one', async () => {
    const odd = { name: 'odd', description: 7, inputSchema: { type: 'object', required: null } };
    const { shop } = await modernHttp([listed('echo'), odd, listed('list', { inputSchema: [7] })]);
    const { tools, warnings } = await connected(new PuppetFolder([]), [shop]);
    expect([...tools.keys()]).toEqual(['shop__echo', 'shop__odd']);
    expect(warnings()).toEqual([
      'mcp: the tool list of shop is omitted: it does not accept named arguments (its inputSchema has no type: object)',
    ]);
  });

  it('reports its progress, and the end of a call ends its request', async () => {
    const isOver = Promise.withResolvers<void>();
    const plays = {
      slow: async (_: unknown, { mcpReq }: any) => {
        const { progressToken } = mcpReq._meta;
        const params = { progressToken, progress: 1, message: 'half way' };
        await mcpReq.notify({ method: 'notifications/progress', params });
        mcpReq.signal.addEventListener('abort', () => isOver.resolve());
        return new Promise(() => undefined);
      },
    };
    const { shop } = await modernHttp([listed('slow')], plays);
    const limits = { timeout: 700, connect: 10_000 };
    const { call, progress } = await connected(new PuppetFolder([]), [shop], { limits });
    expect(await call('shop__slow')).toBe(
      'timeout: shop__slow took too long and was stopped; its outcome is unknown',
    );
    await isOver.promise;
    expect(progress).toEqual([{ progress: 1, message: 'half way' }]);
  });

  it('has a changed tool withheld, as the event stream reports it', async () => {
    const { shop, methods, offer, announce } = await modernHttp([listed('echo')]);
    const { tools } = await connected(new PuppetFolder([]), [shop]);
    await vi.waitUntil(() => methods().includes('subscriptions/listen'), patient);
    offer([listed('echo', { description: 'Pays.' })]);
    announce();
    await vi.waitFor(() => expect([...tools.keys()]).toEqual([]), patient);
  });

  it('gets no call of a tool that it changed silently', async () => {
    const { shop, offer } = await modernHttp([listed('echo')]);
    const { tools } = await connected(new PuppetFolder([]), [shop]);
    const tool = tools.get('shop__echo');
    const before = await tool?.identity?.();
    expect(before).toMatchObject({
      server: 'shop',
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await tool?.identity?.()).toEqual(before);
    offer([listed('echo', { description: 'Pays.' })]);
    expect(await tool?.identity?.()).not.toEqual(before);
    expect([...tools.keys()]).toEqual([]);
  });
});

describe('a server of MCP 2026-07-28 over stdio', () => {
  const program = join(import.meta.dirname, 'modern-puppet.mjs');
  const shop = (tools: readonly object[], env: Record<string, string> = {}) =>
    puppetConfig({ args: [program], env: { TOOLS: JSON.stringify(tools), ...env } });

  it.each(['reject', 'stateless'])('is detected (%s)', async (legacy) => {
    const servers = [shop([listed('echo')], { LEGACY: legacy })];
    const { call, warnings } = await connected(new PuppetFolder([]), servers);
    expect(await call('shop__echo', { a: 1 })).toBe('{"a":1}');
    expect(warnings()).toEqual([]);
  });
});
