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
const invalid = 'the request is not valid HTTP';
const target = 'the request target must be a path that begins with /';
const oneHost = 'send one Host header';

describe('bytes that two parsers could read differently', () => {
  it.each([
    [
      'two lengths of the body',
      head(
        'POST /tasks/send HTTP/1.1',
        'Host: a',
        json,
        'Content-Length: 2',
        'Transfer-Encoding: chunked',
      ) + '0\r\n\r\n',
      400,
      invalid,
    ],
    [
      'two Content-Length',
      head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Content-Length: 2', 'Content-Length: 3') +
        '{}',
      400,
      invalid,
    ],
    [
      'an invalid length',
      head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Content-Length: 0x2') + '{}',
      400,
      invalid,
    ],
    [
      'a negative length',
      head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Content-Length: -1'),
      400,
      invalid,
    ],
    [
      'a chunk of no size',
      head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Transfer-Encoding: chunked') + 'z\r\n',
      400,
      invalid,
    ],
    [
      'an unknown encoding',
      head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Transfer-Encoding: xchunked') + '{}',
      400,
      invalid,
    ],
    ['bare line feeds', 'GET /tasks HTTP/1.1\nHost: a\n\n', 400, invalid],
    [
      'a bare carriage return in a header',
      'GET /tasks HTTP/1.1\r\nHost: a\rX: b\r\n\r\n',
      400,
      invalid,
    ],
    ['a folded header', head('GET /tasks HTTP/1.1', 'Host: a', 'X: b', ' c'), 400, invalid],
    ['a blank before the colon', head('GET /tasks HTTP/1.1', 'Host : a'), 400, invalid],
    ['another protocol', 'SSH-2.0-x\r\n\r\n', 400, invalid],
    ['a zero byte', head('GET /ta\0sks HTTP/1.1', 'Host: a'), 400, invalid],
    [
      'an absolute address as the path',
      head('GET http://evil.example/tasks HTTP/1.1', 'Host: a', 'Connection: close'),
      400,
      target,
    ],
    ['a star as the path', head('OPTIONS * HTTP/1.1', 'Host: a', 'Connection: close'), 400, target],
    [
      'two Host',
      head('GET /tasks HTTP/1.1', 'Host: a', 'Host: b', 'Connection: close'),
      400,
      oneHost,
    ],
    [
      'the same Host twice',
      head('GET /tasks HTTP/1.1', 'Host: a', 'HOST: a', 'Connection: close'),
      400,
      oneHost,
    ],
    [
      'endless headers',
      head('GET /tasks HTTP/1.1', 'Host: a', `X: ${'x'.repeat(20_000)}`),
      431,
      'the headers of the request are too long',
    ],
    [
      'an endless path',
      head(`GET /${'x'.repeat(20_000)} HTTP/1.1`, 'Host: a'),
      431,
      'the headers of the request are too long',
    ],
    [
      'too many headers',
      head('GET /tasks HTTP/1.1', 'Host: a', ...Array.from({ length: 2500 }, () => 'a:b')),
      431,
      'the request has more than 100 headers; send fewer',
    ],
  ])('are refused: %s', async (_, request, status, error) => {
    const { client } = await startTestSurface();
    const answer = await rawRequest(client.url, request);
    const code = status === 431 ? 'headers_too_large' : 'invalid_http';
    expect(answer).toMatchObject({
      status,
      headers: hardened,
      body: JSON.stringify({ error, code }),
    });
    expect((await client.get('/healthz')).status).toBe(200);
  });

  it('do not smuggle a second request after the first', async () => {
    const { client } = await startTestSurface();
    const inner =
      head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Content-Length: 58') +
      '{"id":"inner","message":{"parts":[{"kind":"text","text":""}]}}';
    const outer = head(
      'POST /tasks/x/cancel HTTP/1.1',
      'Host: a',
      json,
      'Content-Length: 3',
      'Transfer-Encoding: chunked',
    );
    expect((await rawRequest(client.url, `${outer}0\r\n\r\n${inner}`)).status).toBe(400);
    expect((await client.get('/tasks')).body).toEqual({ tasks: [] });
  });

  it('include a request without a Host', async () => {
    const { client } = await startTestSurface();
    expect((await rawRequest(client.url, 'GET /tasks HTTP/1.1\r\n\r\n')).status).toBe(400);
  });
});

describe('an incomplete request', () => {
  const arrival = { headers: 200, request: 300, checkedEvery: 20 };
  it.each([
    ['headers', 'GET /tasks HTTP/1.1\r\nHost: a\r\nX-'],
    ['a body', head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Content-Length: 100') + '{'],
  ])('is closed for its %s, and others are served at the same time', async (_, part) => {
    const { client } = await startTestSurface({ arrival });
    const slow = Promise.all(Array.from({ length: 50 }, () => rawRequest(client.url, part)));
    expect((await client.get('/healthz')).status).toBe(200);
    for (const answer of await slow) {
      expect(answer).toMatchObject({
        status: 408,
        headers: hardened,
        body: JSON.stringify({
          error: 'the request did not arrive in time',
          code: 'request_timeout',
        }),
      });
    }
  });

  it('is limited, a held answer is not', async () => {
    const gate = Promise.withResolvers<string>();
    const { client, server } = await startTestSurface({
      arrival,
      tools: { wait: () => gate.promise },
    });
    const held = client.send('t1', [{ tool: 'wait' }, { say: '{result}' }]);
    // The same checks close a late request that began after the held one.
    const late = await rawRequest(client.url, 'GET /tasks HTTP/1.1\r\n');
    const later = await rawRequest(client.url, 'GET /tasks HTTP/1.1\r\n');
    expect([late.status, later.status]).toEqual([408, 408]);
    gate.resolve('at last');
    expect((await held).body.status.message.parts[0].text).toBe('at last');
    expect(server.timeout).toBe(0);
  });

  it('and a disconnected one do not change the daemon', async () => {
    const { client, log } = await startTestSurface();
    const { hostname, port } = new URL(client.url);
    for (let round = 0; round < 50; round += 1) {
      await new Promise<void>((closed) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(head('POST /tasks/send HTTP/1.1', 'Host: a', json, 'Content-Length: 100'));
          socket.resetAndDestroy();
        });
        socket.once('close', () => closed());
      });
    }
    expect((await client.get('/tasks')).body).toEqual({ tasks: [] });
    expect(log).toEqual([]);
  });
});
