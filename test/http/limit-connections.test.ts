import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type ConnectionLimits,
  limitConnections,
  mostConnections,
} from '../../src/http/limit-connections.ts';
import { patient } from '../helpers/patient.ts';
import { rawRequest } from '../helpers/raw-request.ts';

interface Limited {
  server: Server;
  url: string;
  /** Opens a connection that sends nothing. */
  hold(from?: string): Promise<Socket>;
}

async function serveLimited(
  most: number,
  options: Pick<ConnectionLimits, 'trustedProxies' | 'patience'> = {},
): Promise<Limited> {
  const server = createServer((_, response) => response.end('served'));
  limitConnections(server, { most, ids: { next: () => 'made-up' }, ...options });
  server.setMaxListeners(0).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const held: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of held) socket.destroy();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const hold = async (from = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from });
    socket.on('error', () => undefined);
    held.push(socket);
    await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
    return socket;
  };
  return { server, url: `http://127.0.0.1:${port}`, hold };
}

const request = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

const refused = {
  status: 503,
  headers: {
    'x-correlation-id': 'made-up',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '73',
    'retry-after': '1',
    connection: 'close',
  },
  body: '{"error":"too many connections; try again","code":"too_many_connections"}',
};

it('one connection too many gets 503, and the next is served once there is a place', async () => {
  const { url, hold } = await serveLimited(2);
  const [first] = [await hold(), await hold()];
  expect(await rawRequest(url, request)).toEqual(refused);
  expect(await rawRequest(url, '')).toEqual(refused);
  first.destroy();
  await vi.waitUntil(async () => (await rawRequest(url, request)).status === 200, patient);
});

it('open connections are kept while others are refused', async () => {
  const { url, hold } = await serveLimited(1);
  const socket = await hold();
  await Promise.all(Array.from({ length: 20 }, () => rawRequest(url, request)));
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.write(request);
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*served/);
});

it('a refused connection is not awaited', async () => {
  const { server, hold } = await serveLimited(0);
  const socket = await hold();
  socket.resume();
  await once(socket, 'close');
  await vi.waitUntil(
    () => new Promise((counted) => server.getConnections((_, count) => counted(count === 0))),
    patient,
  );
});

it('connections far above the limit are closed silently', async () => {
  const { server, hold } = await serveLimited(2);
  expect(server.maxConnections).toBe(34);
  await hold();
});

describe('one address', () => {
  const one = '127.0.0.2';

  it('has a quarter of the connections, and others have theirs at the same time', async () => {
    const { url, hold } = await serveLimited(200);
    for (let count = 0; count < 50; count += 1) await hold(one);
    expect(await rawRequest(url, request, one)).toEqual(refused);
    expect(await rawRequest(url, request, '127.0.0.3')).toMatchObject({ status: 200 });
  });

  it('blocks no other address with refused connections', async () => {
    const { url, hold } = await serveLimited(200);
    await Promise.all(Array.from({ length: 400 }, () => hold(one).catch(() => undefined)));
    const others = Array.from({ length: 20 }, () => rawRequest(url, request, '127.0.0.3'));
    expect(new Set((await Promise.all(others)).map(({ status }) => status))).toEqual(
      new Set([200]),
    );
  });

  it('has all of them when it is a trusted proxy', async () => {
    const { url, hold } = await serveLimited(60, { trustedProxies: [one], patience: 1 });
    for (let count = 0; count < 59; count += 1) await hold(one);
    expect(await rawRequest(url, request, one)).toMatchObject({ status: 200 });
    await hold(one);
    expect(await rawRequest(url, request, one)).toEqual(refused);
  });

  it('has the latest 32 silent ones, and any number with a request', async () => {
    const { url, hold } = await serveLimited(400, { patience: 100 });
    const asking = [await hold(one), await hold(one)];
    for (const socket of asking) {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
    }
    const elsewhere = await Promise.all(Array.from({ length: 20 }, () => hold('127.0.0.3')));
    const silent: Socket[] = [];
    for (let count = 0; count < 40; count += 1) silent.push(await hold(one));
    const answers = silent.map(() => '');
    for (const [index, socket] of silent.entries()) {
      socket.setEncoding('utf8').on('data', (text: string) => (answers[index] += text));
      socket.write('GET / HTTP/1.1\r\nX-A: ');
    }
    const gone = () => silent.map(({ closed }) => closed);
    await vi.waitUntil(() => gone().filter(Boolean).length === 8, patient);
    expect(gone()).toEqual([...Array(8).fill(true), ...Array(32).fill(false)]);
    expect(answers.slice(0, 8).map((answer) => answer.slice(0, 12))).toEqual(
      Array(8).fill('HTTP/1.1 408'),
    );
    expect(await rawRequest(url, request, one)).toMatchObject({ status: 200 });
    expect([...asking, ...elsewhere].filter(({ closed }) => closed)).toEqual([]);
  });

  it('may open many connections with requests at once', async () => {
    const { url } = await serveLimited(400, { patience: 1_000 });
    const many = Array.from({ length: 90 }, () => rawRequest(url, request, one));
    expect(new Set((await Promise.all(many)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

it.each([
  [256, 124],
  [1_024, 889],
  [20_000, 17_968],
  [1_048_576, 20_000],
  [Number.MAX_SAFE_INTEGER, 20_000],
  [64, 16],
])('with %d files, %d connections are served', (files, connections) => {
  expect(mostConnections(files)).toBe(connections);
});

it('a hundred files or more are left for other uses', () => {
  fc.assert(
    fc.property(fc.integer({ min: 160, max: 2 ** 30 }), (files) => {
      expect(files - mostConnections(files)).toBeGreaterThanOrEqual(132);
    }),
  );
});

it('the limit of open files of the process is read', () => {
  expect(mostConnections()).toBeGreaterThanOrEqual(16);
  expect(mostConnections()).toBeLessThanOrEqual(20_000);
});
