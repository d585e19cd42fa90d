import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Connections, get } from '../../bench/connections.ts';

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** Starts a server that answers a request as the function decides, by the number of the request on its connection. */
async function listener(reply: (socket: Socket, request: number) => void): Promise<string> {
  const server = createServer((socket) => {
    let requests = 0;
    socket.on('error', () => undefined);
    socket.on('data', () => reply(socket, (requests += 1)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function connectionsTo(url: string): (path: string) => Promise<string> {
  const connections = new Connections(url, { connections: 1 });
  onTestFinished(() => connections.close());
  return async (path) => {
    const { body } = await connections.request({ method: 'POST', path, body: '{}' });
    return body.text();
  };
}

it('a request on a connection that the server closed is sent again on another one', async () => {
  const url = await listener((socket, request) => {
    if (request === 1) socket.write(answer);
    else socket.destroy();
  });
  const post = connectionsTo(url);
  expect([await post('/1'), await post('/2'), await post('/3')]).toEqual(['ok', 'ok', 'ok']);
  const read = [await get(`${url}/1`), await get(`${url}/2?a=b`)];
  expect(read).toEqual([
    { status: 200, text: 'ok' },
    { status: 200, text: 'ok' },
  ]);
});

it('a request whose answer has begun is not sent again', async () => {
  let asked = 0;
  const post = connectionsTo(
    await listener((socket) => {
      asked += 1;
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no');
    }),
  );
  await expect(post('/')).rejects.toThrow('other side closed');
  expect(asked).toBe(1);
});

it('a server that closes each connection is an error', async () => {
  let asked = 0;
  const post = connectionsTo(
    await listener((socket) => {
      asked += 1;
      socket.end();
    }),
  );
  await expect(post('/')).rejects.toThrow('other side closed');
  expect(asked).toBe(4);
});
