import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { limitConnections, mostConnections } from '../../src/http/limit-connections.ts';
import { rawRequest } from '../helpers/raw-request.ts';

interface Limited {
  server: Server;
  url: string;
  /** Opens a connection that sends nothing. */
  hold(): Promise<Socket>;
}

async function serveLimited(most: number): Promise<Limited> {
  const server = createServer((_, response) => response.end('served'));
  limitConnections(server, { most, ids: { next: () => 'made-up' } });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const held: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of held) socket.destroy();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const hold = async (): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1');
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
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
    'content-length': '43',
    'retry-after': '1',
    connection: 'close',
  },
  body: '{"error":"too many connections; try again"}',
};

it('refuses one connection too many with 503, and serves the next once there is room', async () => {
  const { url, hold } = await serveLimited(2);
  const [first] = [await hold(), await hold()];
  expect(await rawRequest(url, request)).toEqual(refused);
  expect(await rawRequest(url, '')).toEqual(refused);
  first.destroy();
  await vi.waitUntil(async () => (await rawRequest(url, request)).status === 200);
});

it('lets those that are served be while it refuses others', async () => {
  const { url, hold } = await serveLimited(1);
  const socket = await hold();
  await Promise.all(Array.from({ length: 20 }, () => rawRequest(url, request)));
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.write(request);
  await once(socket, 'close');
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*served/);
});

it('waits for nobody whom it refused', async () => {
  const { server, hold } = await serveLimited(0);
  const socket = await hold();
  socket.resume();
  await once(socket, 'close');
  await vi.waitUntil(
    () => new Promise((counted) => server.getConnections((_, count) => counted(count === 0))),
  );
});

it('hangs up without a word on those far beyond the limit', async () => {
  const { server, hold } = await serveLimited(2);
  expect(server.maxConnections).toBe(34);
  await hold();
});

it.each([
  [256, 124],
  [1_024, 889],
  [20_000, 17_968],
  [1_048_576, 20_000],
  [Number.MAX_SAFE_INTEGER, 20_000],
  [64, 16],
])('serves, with %d files, %d connections', (files, connections) => {
  expect(mostConnections(files)).toBe(connections);
});

it('leaves a hundred files or more to everything else', () => {
  fc.assert(
    fc.property(fc.integer({ min: 160, max: 2 ** 30 }), (files) => {
      expect(files - mostConnections(files)).toBeGreaterThanOrEqual(132);
    }),
  );
});

it('knows how many files this process may open', () => {
  expect(mostConnections()).toBeGreaterThanOrEqual(16);
  expect(mostConnections()).toBeLessThanOrEqual(20_000);
});
