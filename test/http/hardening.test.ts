import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { rawRequest } from '../helpers/raw-request.ts';
import { startTestSurface } from '../helpers/test-surface.ts';

const hardened = {
  'content-type': 'application/json; charset=utf-8',
  'x-correlation-id': expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  connection: 'close',
};

function head(...lines: string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

const json = 'Content-Type: application/json';
const sending = '{"id":"t1","message":{"parts":[{"kind":"text","text":"hi"}]}}';

/** Everything that comes over one connection until it closes. */
async function talk(url: string, ...pieces: string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  for (const piece of pieces) await new Promise((written) => socket.write(piece, written));
  if (!socket.closed) await once(socket, 'close');
  return text;
}

describe('a request for an upgrade', () => {
  it.each([
    ['a tunnel', head('CONNECT evil.example:443 HTTP/1.1', 'Host: evil.example:443')],
    ['a tunnel with bytes after it', `${head('CONNECT a:1 HTTP/1.1', 'Host: a:1')}\x16\x03\x01`],
  ])('is refused as %s', async (_, request) => {
    const { client } = await startTestSurface();
    expect(await rawRequest(client.url, request)).toMatchObject({
      status: 501,
      headers: hardened,
      body: '{"error":"CONNECT is not supported; this is no proxy","code":"connect_unsupported"}',
    });
    expect((await client.get('/healthz')).status).toBe(200);
  });

  it('is refused as an unsupported expectation', async () => {
    const { client } = await startTestSurface();
    const request = head('GET /healthz HTTP/1.1', 'Host: a', 'Expect: miracles');
    expect(await rawRequest(client.url, request)).toMatchObject({
      status: 417,
      headers: hardened,
      body: '{"error":"the request expects something else than 100-continue; send no Expect","code":"unsupported_expectation"}',
    });
  });

  it('is served without the upgrade', async () => {
    const { client } = await startTestSurface();
    for (const upgrade of ['websocket', 'h2c']) {
      const request = head(
        'GET /healthz HTTP/1.1',
        'Host: a',
        'Connection: Upgrade, close',
        `Upgrade: ${upgrade}`,
      );
      expect(await rawRequest(client.url, request)).toMatchObject({
        status: 200,
        body: '{"status":"ok"}',
      });
    }
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    expect(await rawRequest(client.url, preface)).toMatchObject({ status: 400, headers: hardened });
  });
});

describe('a body with Expect: 100-continue', () => {
  const asking = (length: number) =>
    head(
      'POST /tasks/send HTTP/1.1',
      'Host: a',
      json,
      'Connection: close',
      'Expect: 100-continue',
      `Content-Length: ${length}`,
    );

  it('is requested and read', async () => {
    const { client } = await startTestSurface();
    const text = await talk(client.url, asking(sending.length), sending);
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
  });

  it('is refused unread when it is too long', async () => {
    const { client } = await startTestSurface();
    const text = await talk(client.url, asking(3 * 1024 * 1024));
    expect(text).toMatch(/HTTP\/1\.1 413 Payload Too Large\r\n/);
  });
});

describe('bytes that are not a request', () => {
  it('close a connection with a pending answer, and do not affect the task', async () => {
    const gate = Promise.withResolvers<string>();
    const { client, log } = await startTestSurface({ tools: { wait: () => gate.promise } });
    const body = JSON.stringify({
      id: 't1',
      message: {
        parts: [{ kind: 'data', data: { script: [{ tool: 'wait' }, { say: '{result}' }] } }],
      },
    });
    const held = head(
      'POST /tasks/send HTTP/1.1',
      'Host: a',
      json,
      `Content-Length: ${body.length}`,
    );
    expect(await talk(client.url, held + body, 'NONSENSE\r\n\r\n')).toBe('');
    gate.resolve('at last');
    const task = await client.get('/tasks/t1');
    expect(task.status).toBe(200);
    expect(log).toEqual([]);
  });

  it('are not answered in the middle of a stream', async () => {
    const gate = Promise.withResolvers<string>();
    const { client, log } = await startTestSurface({ tools: { wait: () => gate.promise } });
    const reader = await client.subscribe('t1', [{ tool: 'wait' }, { say: 'done' }]);
    const { hostname, port } = new URL(client.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (chunk.includes('event: status')) socket.write('NONSENSE\r\n\r\n');
    });
    socket.write(head('GET /tasks/t1/events HTTP/1.1', 'Host: a'));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(text).not.toContain('HTTP/1.1 400');
    gate.resolve('x');
    reader.leave();
    expect(log).toEqual([]);
  });

  it('are answered after a complete answer', async () => {
    const { client } = await startTestSurface();
    const { hostname, port } = new URL(client.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (chunk.endsWith('{"status":"ok"}')) socket.write('NONSENSE\r\n\r\n');
    });
    socket.write(head('GET /healthz HTTP/1.1', 'Host: a'));
    await once(socket, 'close');
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(text).toMatch(/\{"error":"the request is not valid HTTP","code":"invalid_http"\}$/);
  });

  it('are refused in the extensions of a chunk', async () => {
    const { client } = await startTestSurface();
    const request = `${head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Transfer-Encoding: chunked')}1;${'x'.repeat(20_000)}\r\n{\r\n`;
    expect(await rawRequest(client.url, request)).toMatchObject({
      status: 413,
      headers: hardened,
      body: '{"error":"the chunk extensions of the body are too long","code":"body_too_large"}',
    });
  });
});

describe('a body with many keys', () => {
  const withKeys = (count: number) => {
    const entries = Array.from({ length: count }, (_, index) => `"k${index}":0`);
    return `{"id":"t1","message":{"parts":[{"kind":"data","data":{${entries.join(',')}}}]}}`;
  };

  it('is refused beyond 100000 keys, at any depth', async () => {
    const { client } = await startTestSurface();
    const refusal = { status: 400, body: { error: 'the JSON has more than 100000 keys' } };
    expect(await client.post('/tasks/send', withKeys(99_996))).toMatchObject(refusal);
    const spread = JSON.stringify(Array.from({ length: 50_001 }, () => ({ a: 0, b: 0 })));
    expect(await client.post('/tasks/send', spread)).toMatchObject(refusal);
    expect((await client.post('/', spread)).body).toEqual({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32700, message: 'parse error: the JSON has more than 100000 keys' },
    });
    expect((await client.post('/tasks/send', withKeys(99_995))).status).toBe(200);
  });

  it('is distinguished from one with many items', async () => {
    const { client } = await startTestSurface();
    const data = Array(200_000).fill(0);
    const message = { parts: [{ kind: 'data', data }] };
    expect((await client.post('/tasks/send', { message })).status).toBe(200);
  });
});

it('other callers are served while 200 send their headers slowly', async () => {
  const { client, server } = await startTestSurface();
  const { hostname, port } = new URL(client.url);
  const slow = await Promise.all(
    Array.from({ length: 200 }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write('GET /tasks HTTP/1.1\r\nHost: a\r\nX-');
      return socket;
    }),
  );
  expect((await client.get('/healthz')).status).toBe(200);
  for (const socket of slow) socket.destroy();
  expect([server.headersTimeout, server.requestTimeout, server.timeout]).toEqual([
    15_000, 30_000, 0,
  ]);
});
