import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../helpers/patient.ts';
import { connected, PuppetFolder, puppetConfig } from './puppet.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, body: any) => unknown;

/** A server over streamable HTTP with configured answers, and its address. */
async function aServer(handle: Handler) {
  const asked: { method: string; headers: IncomingMessage['headers']; body: any }[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const text = Buffer.concat((await request.toArray()) as Buffer[]).toString();
    const body = text === '' ? null : JSON.parse(text);
    asked.push({ method: request.method ?? '', headers: request.headers, body });
    await handle(request, response, body);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, asked };
}

/** The SDK's own server, whose tools say what they are given. */
function sdkServer(): { handle: Handler; forget: () => void } {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const open = async () => {
    const mcp = new McpServer({ name: 'shop', version: '1' });
    mcp.registerTool('echo', { description: 'Echoes.' }, async () => ({
      content: [{ type: 'text', text: 'here' }],
    }));
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await mcp.connect(transport as Parameters<typeof mcp.connect>[0]);
    return transport;
  };
  return {
    forget: () => sessions.clear(),
    async handle(request, response, body) {
      const id = request.headers['mcp-session-id'];
      const known = typeof id === 'string' ? sessions.get(id) : undefined;
      if (id !== undefined && known === undefined) {
        response.writeHead(404).end();
        return;
      }
      await (known ?? (await open())).handleRequest(request, response, body);
    },
  };
}

const greeting = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'shop', version: '1' },
};

const list = { tools: [{ name: 'echo', description: '', inputSchema: { type: 'object' } }] };

/** A manual server, which answers calls as configured. */
function byHand(call: Handler): Handler {
  return (request, response, body) => {
    if (request.method !== 'POST') return response.writeHead(405).end();
    if (body.id === undefined) return response.writeHead(202).end();
    if (body.method === 'tools/call') return call(request, response, body);
    const result = body.method === 'initialize' ? greeting : list;
    return answer(response, { id: body.id, result });
  };
}

function answer(response: ServerResponse, message: object): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
}

const shop = (url: string, headers: Record<string, string> = {}) => {
  const { command: _, ...config } = puppetConfig({ url, headers, args: [] });
  return config;
};

describe('a server over HTTP', () => {
  it('is called through egress, in the scope of the task, as the daemon', async () => {
    const { url, asked } = await aServer(sdkServer().handle);
    const scope = { taskId: 't1', correlationId: 'k1', tags: { workflow_id: 'w' } };
    let current: typeof scope | null = null;
    const sent: unknown[] = [];
    const egress = {
      fetch: globalThis.fetch,
      scope: () => current,
      within: <T>(on: object, run: () => T, limits: object) => {
        sent.push({ ...on, limits });
        return run();
      },
    };
    const { call } = await connected(
      new PuppetFolder([]),
      [shop(url, { authorization: 'Bearer sesame' })],
      { egress },
    );
    current = scope;
    sent.length = 0;
    expect(await call('shop__echo')).toBe('here');
    const limits = { headers: 90_000, idle: 300_000, total: null, bytes: 4 * 1024 * 1024 };
    expect(sent).toEqual([{ ...scope, isOwn: true, limits }]);
    expect(new Set(asked.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer sesame']),
    );
    const clientInfo = { name: 'holdpoint', version: '1' };
    expect(asked.slice(0, 2).map(({ body }) => body)).toEqual([
      {
        jsonrpc: '2.0',
        id: 'server-discover-probe-1',
        method: 'server/discover',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': clientInfo,
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
      {
        jsonrpc: '2.0',
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
      },
    ]);
  });

  it('is initialized again after its session expired', async () => {
    const { handle, forget } = sdkServer();
    const { url } = await aServer(handle);
    const { call, log } = await connected(new PuppetFolder([]), [shop(url)], { random: () => 1 });
    for (let times = 0; times < 6; times += 1) {
      forget();
      expect(await call('shop__echo')).toBe('here');
    }
    expect(new Set(log.map(({ message }) => message))).toEqual(new Set(['mcp: connected']));
  });

  it.each<[string, Handler, string]>([
    [
      'breaks off in a stream',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: {"jsonrpc"');
        setTimeout(() => response.destroy(), 50);
      },
      'error -32603: shop__echo failed: the answer broke off (terminated)',
    ],
    [
      'ends its stream without a result',
      (_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(': nothing more\n\n');
      },
      'error -32603: shop__echo failed: the answer broke off (it ended without a result)',
    ],
    [
      'answers with a page',
      (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      'failed: shop__echo failed: its server does not follow MCP (its answer is neither JSON nor events)',
    ],
    [
      'breaks',
      (_, response) => response.writeHead(500).end('{"detail":"database of sesame is locked"}'),
      'failed: shop__echo failed: its server answered with HTTP 500: database of [redacted:credential] is locked',
    ],
    [
      'breaks with a page',
      (_, response) => response.writeHead(500).end('<h1>Oops</h1>'),
      'failed: shop__echo failed: its server answered with HTTP 500',
    ],
    [
      'does not allow it',
      (_, response) =>
        response
          .writeHead(403, {
            'www-authenticate': 'Bearer error="insufficient_scope", scope="write"',
          })
          .end(),
      'refused: shop__echo failed: its server refused the call (HTTP 403: insufficient_scope, scope write)',
    ],
    [
      'limits the rate',
      (_, response) =>
        response.writeHead(429, { 'retry-after': '90' }).end('{"error":"slow down"}'),
      'failed: shop__echo failed: its server answered with HTTP 429: slow down; try again in 1m30s',
    ],
    [
      'has an error of JSON-RPC in a 400',
      (_, response, { id }) =>
        response
          .writeHead(400)
          .end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32602, message: 'above 0' } })),
      'error -32602: shop__echo failed: above 0',
    ],
    [
      'has an error of JSON-RPC without an id in a 400',
      (_, response) =>
        response
          .writeHead(400)
          .end('{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"above 0"}}'),
      'error -32602: shop__echo failed: above 0',
    ],
    [
      'has an error of JSON-RPC in a 403',
      (_, response, { id }) =>
        response
          .writeHead(403)
          .end(
            JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32003, message: 'read only' } }),
          ),
      'error -32003: shop__echo failed: read only',
    ],
    [
      'reports a missing session in an argument error',
      (_, response, { id }) => {
        const error = { code: -32602, message: 'session 7 not found' };
        response.writeHead(400).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      },
      'error -32602: shop__echo failed: session 7 not found',
    ],
    [
      'accepts the call and does not answer',
      (_, response) => response.writeHead(202).end(),
      'failed: shop__echo failed: its server answered with HTTP 202: and no answer',
    ],
    [
      'answers null in a stream',
      (_, response, { id }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: null })}\r\n\r\n`);
      },
      'error -32603: shop__echo failed: the answer is no message of MCP: its result is null',
    ],
    [
      'leads elsewhere',
      (_, response) => response.writeHead(307, { location: 'http://elsewhere.test/mcp' }).end(),
      'failed: shop__echo failed: its server answered with HTTP 307',
    ],
    [
      'says nothing',
      () => undefined,
      'timeout: shop__echo took too long and was stopped; its outcome is unknown',
    ],
    [
      "quotes the agent's credentials",
      (request, response, { id }) =>
        answer(response, {
          id,
          result: { content: [{ type: 'text', text: `you are ${request.headers.authorization}` }] },
        }),
      'you are [redacted:credential]',
    ],
    [
      "quotes the agent's credentials in an error",
      (request, response, { id }) =>
        answer(response, {
          id,
          error: { code: -32_001, message: `no ${request.headers.authorization}, nor sesame` },
        }),
      'error -32001: shop__echo failed: no [redacted:credential], nor [redacted:credential]',
    ],
  ])('that %s fails only its call', async (_, handle, outcome) => {
    let turn = 0;
    const { url } = await aServer(
      byHand((request, response, body) => {
        turn += 1;
        if (turn === 1) return handle(request, response, body);
        return answer(response, { id: body.id, result: { content: [] } });
      }),
    );
    const { call } = await connected(
      new PuppetFolder([]),
      [shop(url, { authorization: 'Bearer sesame' })],
      { limits: { timeout: 1_000, connect: 10_000 } },
    );
    expect(await call('shop__echo')).toBe(outcome);
    expect(await call('shop__echo')).toBe('');
  });

  it('does not have its event stream opened in a loop', async () => {
    const { url, asked } = await aServer((request, response, body) => {
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end('retry: 1\n\n');
        return;
      }
      byHand(() => undefined)(request, response, body);
    });
    await connected(new PuppetFolder([]), [shop(url)]);
    await vi.waitUntil(() => asked.filter(({ method }) => method === 'GET').length === 1, patient);
    await new Promise((done) => setTimeout(done, 1_000));
    expect(asked.filter(({ method }) => method === 'GET')).toHaveLength(1);
  });

  it("that fails to initialize is reported without the agent's credentials", async () => {
    const { url } = await aServer((request, response, body) =>
      answer(response, {
        id: body.id,
        error: { code: -32_001, message: `no ${request.headers.authorization}, nor sesame` },
      }),
    );
    const { warnings } = await connected(new PuppetFolder([]), [
      shop(url, { authorization: 'Bearer sesame' }),
    ]);
    expect(warnings()).toEqual([
      'mcp: shop answered with an error (no [redacted:credential], nor [redacted:credential])',
    ]);
  });

  it.each(['for news', 'of a call'])(
    'that sends endless requests in its stream %s is disconnected',
    async (which) => {
      const pings = Array.from(
        { length: 3_000 },
        (_, id) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })}\n\n`,
      ).join('');
      const flood = (response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(pings);
      };
      const { url, asked } = await aServer((request, response, body) => {
        if (request.method === 'GET' && which === 'for news') return flood(response);
        return byHand((_, stream) => flood(stream))(request, response, body);
      });
      const { call, warnings } = await connected(new PuppetFolder([]), [shop(url)]);
      if (which === 'of a call') {
        expect(await call('shop__echo')).toBe(
          'connection lost: the server of shop__echo was lost while it worked; its outcome is unknown',
        );
      }
      await vi.waitFor(
        () => expect(warnings()).toEqual(['mcp: shop sends more than can be read']),
        patient,
      );
      expect(asked.filter(({ body }) => body !== null && 'result' in body).length).toBeLessThan(
        101,
      );
    },
  );

  it.each<[string, Handler, string]>([
    [
      'of the transport of 2024-11-05',
      (_, response) => response.writeHead(405).end(),
      'answered with HTTP 405, as a server of the HTTP+SSE transport of 2024-11-05 does; write its address for streamable HTTP as url',
    ],
    [
      'of another protocol generation',
      (_, response, { id }) => {
        const data = { supported: ['2027-01-01'], requested: '2026-07-28' };
        const error = { code: -32022, message: 'unsupported protocol version', data };
        response.writeHead(400).end(JSON.stringify({ jsonrpc: '2.0', id, error }));
      },
      'speaks MCP 2027-01-01, and the agent 2026-07-28 and older',
    ],
    [
      'that initializes with a future version',
      (_, response, { id }) =>
        answer(response, { id, result: { ...greeting, protocolVersion: '2099-01-01' } }),
      'speaks MCP 2099-01-01, and the agent 2026-07-28 and older',
    ],
    [
      'that requires OAuth',
      (_, response) =>
        response
          .writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://a.example/"' })
          .end(),
      'refused the agent (HTTP 401); it wants OAuth, so write its auth in service.yaml',
    ],
    [
      'that initializes with a numeric version',
      (_, response, { id }) =>
        answer(response, { id, result: { ...greeting, protocolVersion: 7 } }),
      'does not follow MCP (protocolVersion of its answer is not what MCP has there)',
    ],
    [
      'that limits the rate',
      (_, response) => response.writeHead(429, { 'retry-after': '90' }).end(),
      'answered with HTTP 429; retry after 1m30s',
    ],
  ])('%s is reported with its fault', async (_, handle, fault) => {
    const { url } = await aServer(handle);
    const { warnings } = await connected(new PuppetFolder([]), [shop(url)]);
    expect(warnings()).toEqual([`mcp: shop ${fault}`]);
  });

  it('with a null cursor has its tools', async () => {
    const { url } = await aServer((request, response, body) =>
      body?.method === 'tools/list'
        ? answer(response, { id: body.id, result: { ...list, nextCursor: null } })
        : byHand(() => undefined)(request, response, body),
    );
    const { tools } = await connected(new PuppetFolder([]), [shop(url)]);
    expect([...tools.keys()]).toEqual(['shop__echo']);
  });

  it('without tools is reported', async () => {
    const { url } = await aServer((request, response, body) => {
      const result = { ...greeting, capabilities: {} };
      if (body?.method === 'initialize') return answer(response, { id: body.id, result });
      byHand(() => undefined)(request, response, body);
    });
    const { warnings } = await connected(new PuppetFolder([]), [shop(url)]);
    expect(warnings()).toEqual(['mcp: shop offers no tools (its greeting lacks the capability)']);
  });

  it.each([401, 403])('that answers with %d needs a person', async (status) => {
    const { url } = await aServer((_, response) => response.writeHead(status).end());
    const { log, call } = await connected(new PuppetFolder([]), [shop(url)]);
    const message = `mcp: shop refused the agent (HTTP ${status}); check its headers in service.yaml`;
    expect(log).toEqual([{ level: 'warn', fields: { server: 'shop', lasting: true }, message }]);
    expect(await call('shop__echo')).toBe('no tool shop__echo');
  });

  it('that is not reachable is reported', async () => {
    const { warnings } = await connected(new PuppetFolder([]), [shop('http://127.0.0.1:2/mcp')]);
    expect(warnings()).toEqual(['mcp: shop could not be reached (ECONNREFUSED)']);
  });
});
