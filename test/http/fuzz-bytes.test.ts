import { connect } from 'node:net';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { postBytes } from '../helpers/post-bytes.ts';
import { runs } from '../helpers/runs.ts';
import { deferring, launchAgent, type TestAgent } from '../helpers/test-agent.ts';

vi.setConfig({ testTimeout: 90_000 });

const said = JSON.stringify({ message: { parts: [{ kind: 'text', text: 'hello' }] } });
const rpc = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'fuzz', version: '1' },
  },
});

/** Requests that are right, which are then bent. */
const requests = [
  postBytes('/tasks/send', said),
  postBytes(
    '/',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 't' } }),
  ),
  postBytes('/v1/message:send', said),
  postBytes('/tasks/t/decisions', '{"decision":"approve"}'),
  postBytes('/mcp', hello),
  postBytes('/mcp', rpc, 'Mcp-Session-Id: 0\r\n'),
  'GET /tasks/t/events HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 3\r\nConnection: close\r\n\r\n',
  'GET /.well-known/agent-card.json HTTP/1.1\r\nHost: a\r\nIf-None-Match: "x"\r\n\r\n',
  'POST /tasks/send HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n',
];

/** One bend: what is cut out at a place, a part of the whole, and what is put there. */
const bend = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.nat(12),
  put: fc.oneof(
    fc.uint8Array({ maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
    fc.constantFrom('\r\n', '\n', '\0', ': ', '\r\n\r\n', '%00', '"', '{', '[[[[', '\xff\xfe', ''),
    fc.constantFrom(
      'Content-Length: 5\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Expect: 100-continue\r\n',
    ),
    fc.constantFrom('Upgrade: websocket\r\nConnection: Upgrade\r\n', 'HTTP/9.9', 'Host: b\r\n'),
  ),
});

const bent = fc
  .tuple(fc.constantFrom(...requests), fc.array(bend, { minLength: 1, maxLength: 5 }))
  .map(([request, bends]) =>
    bends.reduce((text, { at, cut, put }) => {
      const place = Math.floor(at * text.length);
      return text.slice(0, place) + put + text.slice(place + cut);
    }, request),
  );

/** Sends bytes, says no more, and returns all that comes back until the other side has closed. */
function exchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      socket.end(bytes, 'latin1'),
    );
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(text));
  });
}

describe('bytes that are not a request', () => {
  let agent: TestAgent;

  beforeAll(async () => {
    agent = await launchAgent({ ...deferring(), server: { mcp: true } });
    return () => agent.close();
  });

  it('are answered or refused, without an internal failure', async () => {
    await fc.assert(
      fc.asyncProperty(bent, async (bytes) => {
        const answers = (await exchange(agent.url, bytes)).match(/HTTP\/1\.1 \d{3}/g) ?? [];
        const broken = answers.filter(
          (status) => /5\d\d/.test(status) && !/501|503|505/.test(status),
        );
        expect(broken).toEqual([]);
      }),
      { numRuns: runs(1_000) },
    );
    expect(agent.log.filter(({ level }) => level === 'error')).toEqual([]);
    expect((await agent.get('/healthz')).status).toBe(200);
  });
});
