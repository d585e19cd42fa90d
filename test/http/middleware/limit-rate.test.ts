import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { patient } from '../../helpers/patient.ts';
import { rawRequest } from '../../helpers/raw-request.ts';
import { serveDoor } from './serve-middleware.ts';

const refusal = {
  status: 429,
  body: { error: 'too many requests; try again in 1 s', code: 'rate_limited' },
};

/** The statuses of so many requests, one after the other. */
async function statuses(count: number, send: () => Promise<{ status: number }>): Promise<number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) found.push((await send()).status);
  return found;
}

const cancelling = { jsonrpc: '2.0', id: 1, method: 'tasks/cancel', params: { id: 't1' } };

describe('an address', () => {
  it('may send as many requests as the burst, and then gets 429', async () => {
    const { client } = await serveDoor({ limits: { writeBurst: 20 } });
    expect(await statuses(20, () => client.post('/tasks/send', {}))).toEqual(Array(20).fill(200));
    const { status, body, headers } = await client.post('/tasks/send', {});
    expect({ status, body }).toEqual(refusal);
    expect(Object.fromEntries(headers)).toMatchObject({
      'retry-after': '1',
      'content-type': 'application/json; charset=utf-8',
      'x-correlation-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });

  it('may send again at the rate, and not before', async () => {
    const { client, clock } = await serveDoor({ limits: { writeRps: 0.25, writeBurst: 1 } });
    const send = () => client.post('/tasks/send', {});
    expect(await statuses(2, send)).toEqual([200, 429]);
    clock.advance(1_500);
    const { body, headers } = await send();
    expect([body.error, headers.get('retry-after')]).toEqual([
      'too many requests; try again in 3 s',
      '3',
    ]);
    clock.advance(2_499);
    expect((await send()).status).toBe(429);
    clock.advance(1);
    expect(await statuses(2, send)).toEqual([200, 429]);
    clock.advance(1_000_000);
    expect(await statuses(2, send)).toEqual([200, 429]);
  });

  it('has separate limits for reads and writes', async () => {
    const { client } = await serveDoor();
    expect(await statuses(3, () => client.post('/tasks/send', {}))).toEqual([200, 200, 429]);
    expect(await statuses(3, () => client.get('/tasks'))).toEqual([200, 200, 429]);
  });

  it.each(['PUT', 'DELETE', 'PATCH', 'PROPFIND'])('writes with %s', async (method) => {
    const { client } = await serveDoor({ limits: { readBurst: 9 } });
    expect(await statuses(3, () => client.request(method, '/tasks'))).toEqual([200, 200, 429]);
  });

  it.each(['HEAD', 'OPTIONS'])('reads with %s', async (method) => {
    const { client } = await serveDoor({ limits: { writeBurst: 9 } });
    expect(await statuses(3, () => client.request(method, '/tasks'))).toEqual([200, 200, 429]);
  });

  it('may read its health at any time', async () => {
    const { client } = await serveDoor();
    expect(await statuses(9, () => client.get('/healthz'))).toEqual(Array(9).fill(200));
    expect(await statuses(9, () => client.get('/readyz'))).toEqual(Array(9).fill(200));
    expect(await statuses(3, () => client.get('/healthzz'))).toEqual([200, 200, 429]);
    expect(await statuses(3, () => client.post('/healthz', {}))).toEqual([200, 200, 429]);
  });
});

describe('another address', () => {
  it('has its own limits', async () => {
    const { client } = await serveDoor({ limits: { trustedProxies: ['loopback'] } });
    const from = (address: string) => () => client.get('/tasks', { 'x-forwarded-for': address });
    expect(await statuses(3, from('192.0.2.1'))).toEqual([200, 200, 429]);
    expect(await statuses(3, from('192.0.2.2'))).toEqual([200, 200, 429]);
    expect(await statuses(1, from('::ffff:192.0.2.2'))).toEqual([429]);
  });

  it('cannot be forged while no proxy is trusted', async () => {
    const { client } = await serveDoor();
    let count = 0;
    const from = () => client.get('/tasks', { 'x-forwarded-for': `192.0.2.${(count += 1)}` });
    expect(await statuses(3, from)).toEqual([200, 200, 429]);
  });

  it('is the same in one /64', async () => {
    const { client } = await serveDoor({ limits: { trustedProxies: ['127.0.0.1'] } });
    const from = (address: string) => () => client.get('/tasks', { 'x-forwarded-for': address });
    expect(await statuses(2, from('2001:db8:1:2::1'))).toEqual([200, 200]);
    expect(await statuses(1, from('2001:db8:1:2:ffff:ffff:ffff:ffff'))).toEqual([429]);
    expect(await statuses(1, from('2001:db8:1:3::1'))).toEqual([200]);
  });

  it('replaces the longest idle one, which then starts again', async () => {
    const { client } = await serveDoor({
      limits: { readBurst: 1, readRps: 0.001, trustedProxies: ['loopback'] },
    });
    const from = (address: string) => client.get('/tasks', { 'x-forwarded-for': address });
    expect((await from('192.0.2.1')).status).toBe(200);
    const others = Array.from({ length: 9_999 }, (_, n) => `10.0.${n >> 8}.${n & 255}`);
    for (let start = 0; start < others.length; start += 100) {
      await Promise.all(others.slice(start, start + 100).map(from));
    }
    expect((await from('192.0.2.1')).status).toBe(429);
    await Promise.all([from('198.51.100.1'), from('198.51.100.2')]);
    expect((await from('192.0.2.1')).status).toBe(429);
    expect((await from('10.0.0.0')).status).toBe(200);
  });
});

describe('a cancel', () => {
  it.each([
    ['its path', '/tasks/t1/cancel', {}],
    ['its path in A2A 0.3.0', '/v1/tasks/t1:cancel', {}],
    ['its path in A2A 1.0', '/a2a/tasks/t1:cancel', {}],
    ['JSON-RPC', '/', cancelling],
    ['JSON-RPC in A2A 1.0', '/', { ...cancelling, method: 'CancelTask' }],
  ])('is never refused by %s, and reaches its route complete', async (_, path, body) => {
    const { client } = await serveDoor();
    expect(await statuses(3, () => client.post('/tasks/send', {}))).toEqual([200, 200, 429]);
    for (let count = 0; count < 5; count += 1) {
      const answer = await client.post(path, body);
      expect([answer.status, answer.body.sent]).toEqual([200, body]);
    }
    expect((await client.post('/tasks/send', {})).status).toBe(429);
  });

  it.each([
    ['its path', '/tasks/t1/cancel', {}],
    ['JSON-RPC', '/', cancelling],
  ])('counts as a write by %s when it is not exempt', async (_, path, body) => {
    const { client } = await serveDoor({ limits: { cancelExempt: false } });
    expect(await statuses(3, () => client.post(path, body))).toEqual([200, 200, 429]);
  });

  const wrong = { authorization: 'Bearer wrong' };

  it.each([
    ['its path', '/tasks/t1/cancel', {}],
    ['JSON-RPC', '/', cancelling],
  ])(
    'over the limit is refused like any other by %s without authentication',
    async (_, path, body) => {
      const { client, asked } = await serveDoor({ limits: { writeBurst: 1 } });
      expect((await client.post(path, body, wrong)).status).toBe(401);
      expect(await statuses(300, () => client.post(path, body, wrong))).toEqual(
        Array(300).fill(429),
      );
      expect(asked).toHaveLength(101);
    },
  );

  it('without authentication may repeat at the rate of writes', async () => {
    const { client, clock, asked } = await serveDoor({ limits: { writeBurst: 150 } });
    await statuses(400, () => client.post('/tasks/t1/cancel', {}, wrong));
    expect(asked).toHaveLength(300);
    clock.advance(3_000);
    const found = await statuses(9, () => client.post('/tasks/t1/cancel', {}, wrong));
    expect(found).toEqual([401, 401, 401, ...Array(6).fill(429)]);
    expect(asked).toHaveLength(306);
  });

  it('with authentication never waits for others that had it, nor for other addresses without it', async () => {
    const { client } = await serveDoor({ limits: { writeBurst: 1, trustedProxies: ['loopback'] } });
    const cancel = (address: string, more: object = {}) =>
      client.post('/tasks/t1/cancel', {}, { 'x-forwarded-for': address, ...more });
    await statuses(300, () => cancel('192.0.2.1', wrong));
    expect(await statuses(300, () => cancel('192.0.2.2'))).toEqual(Array(300).fill(200));
  });

  it('waits for its turn with at most a hundred others', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { client, asked } = await serveDoor({ limits: { writeBurst: 1 }, arriving: promise });
    let refused = 0;
    const cancel = async () => {
      const { status } = await client.post('/tasks/t1/cancel', {});
      if (status === 429) refused += 1;
      return status;
    };
    const sent = Array.from({ length: 150 }, cancel);
    await vi.waitUntil(() => refused === 49, patient);
    expect(asked).toHaveLength(101);
    resolve();
    expect((await Promise.all(sent)).filter((status) => status === 200)).toHaveLength(101);
  });

  it('is recognized at any speed and in any number of pieces', async () => {
    const { client } = await serveDoor();
    expect(await statuses(2, () => client.post('/', cancelling))).toEqual([200, 200]);
    const params = { id: 't1', reason: 'ü'.repeat(20_000) };
    const body = Buffer.from(JSON.stringify({ ...cancelling, params }));
    const { hostname, port } = new URL(client.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const head = `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    socket.setNoDelay(true).write(head);
    for (let start = 0; start < body.length; start += 4_001) {
      await new Promise((written) => socket.write(body.subarray(start, start + 4_001), written));
    }
    await closed;
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!).sent.params).toEqual(params);
  });

  const json = JSON.stringify(cancelling);
  const head =
    'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\n';
  it.each([
    ['another method', { ...cancelling, method: 'tasks/get' }],
    ['a method with the same beginning', { ...cancelling, method: 'tasks/cancel ' }],
    ['a batch', [cancelling]],
    ['no version', { ...cancelling, jsonrpc: '1.0' }],
    ['a notification', { ...cancelling, id: undefined }],
    ['a malformed body', json.slice(0, -1)],
    [
      'a body that is nested too deeply',
      { ...cancelling, params: JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`) },
    ],
    ['a body that is too long', { ...cancelling, params: { reason: 'x'.repeat(65_536) } }],
    ['nothing', undefined],
  ])('is not %s', async (_, body) => {
    const { client, log } = await serveDoor();
    expect(await statuses(2, () => client.post('/tasks/send', {}))).toEqual([200, 200]);
    const error = { code: -32000, message: refusal.body.error };
    expect(await client.post('/', body)).toMatchObject({
      status: 429,
      body: { jsonrpc: '2.0', id: null, error },
    });
    expect(log).toEqual([]);
  });

  it('is not searched in a compressed body, another type or an unknown length', async () => {
    const { client } = await serveDoor();
    expect(await statuses(2, () => client.post('/tasks/send', {}))).toEqual([200, 200]);
    const packed = await client.post('/', gzipSync(json), { 'content-encoding': 'gzip' });
    const text = await client.post('/', json, { 'content-type': 'text/plain' });
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`;
    const endless = await rawRequest(client.url, chunked);
    expect([packed.status, text.status, endless.status]).toEqual([429, 429, 429]);
  });

  it('is no GET and no longer path', async () => {
    const { client } = await serveDoor();
    await statuses(2, () => client.post('/tasks/send', {}));
    await statuses(2, () => client.get('/tasks'));
    expect((await client.get('/tasks/t1/cancel')).status).toBe(429);
    expect((await client.post('/tasks/t1/x/cancel', {})).status).toBe(429);
    expect((await client.post('/tasks//cancel', {})).status).toBe(429);
  });

  it('whose caller disconnects in the middle leaves nothing in memory', async () => {
    const { client, log } = await serveDoor();
    await statuses(2, () => client.post('/tasks/send', {}));
    const { hostname, port } = new URL(client.url);
    await new Promise<void>((closed) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(`${head}Content-Length: ${json.length}\r\n\r\n${json.slice(0, 20)}`, () =>
          socket.resetAndDestroy(),
        );
      });
      socket.once('close', () => closed());
    });
    expect((await client.post('/', cancelling)).status).toBe(200);
    expect(log).toEqual([]);
  });
});

it('the middleware names the caller for later ones', async () => {
  const { client } = await serveDoor({ limits: { trustedProxies: ['loopback'] } });
  const answer = await client.get('/tasks', {
    'x-forwarded-for': '192.0.2.1, ::ffff:198.51.100.7',
  });
  expect(answer.body).toEqual({ address: '198.51.100.7', sent: null });
});

it.each([
  [65_536, 'keep-alive'],
  [65_537, 'close'],
])('the connection of a refused body of %d bytes: %s', async (length, connection) => {
  const { client } = await serveDoor();
  await statuses(2, () => client.post('/tasks/send', {}));
  const answer = await client.post('/tasks/send', JSON.stringify('x'.repeat(length - 2)));
  expect([answer.status, answer.headers.get('connection')]).toEqual([429, connection]);
});

it('the connection of an endless refused body is closed', async () => {
  const { client } = await serveDoor();
  await statuses(2, () => client.post('/tasks/send', {}));
  const answer = await rawRequest(
    client.url,
    'POST /tasks/send HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n',
  );
  expect(answer).toMatchObject({
    status: 429,
    headers: { connection: 'close', 'retry-after': '1' },
  });
});
