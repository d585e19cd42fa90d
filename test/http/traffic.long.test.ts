import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { forgetMessage } from '../../src/http/forget-message.ts';
import { ByteShares, Traffic, TrafficCount } from '../../src/http/traffic.ts';
import { type AgentClient, type Answer, playing, saying } from '../helpers/agent-client.ts';
import { patient } from '../helpers/patient.ts';
import { rawRequest } from '../helpers/raw-request.ts';
import { someTraffic } from '../helpers/some-traffic.ts';
import {
  startTestSurface,
  type TestSurface,
  type TestSurfaceOptions,
} from '../helpers/test-surface.ts';

vi.setConfig({ testTimeout: 30_000 });

/** More than the kernel keeps for a reader who takes nothing. */
const big = 'x'.repeat(8_000_000);

/** A surface with a task `t1` whose answer is big; `length` is that of the answer. */
async function serveBig(
  limits: (length: number) => TestSurfaceOptions['traffic'],
  tools: NonNullable<TestSurfaceOptions['tools']> = {},
): Promise<TestSurface> {
  const traffic = limits(8_001_000) ?? {};
  const surface = await startTestSurface({
    traffic,
    tools: { ...tools, big: () => big },
  });
  await surface.client.send('t1', [{ tool: 'big' }, { say: '{result}' }]);
  return surface;
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;

/** Asks from an address of this machine, and reads nothing of the answer. */
async function askAndPause(url: string, path: string, from = '127.0.0.1'): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress: from });
  socket.pause();
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(get(path));
  return socket;
}

/** Resolves once the surface has closed the next connection. */
async function nextClosed({ server }: TestSurface): Promise<unknown> {
  const [socket] = (await once(server, 'connection')) as [Socket];
  return once(socket, 'close');
}

const refusal = {
  error: 'too many answers wait to be read; read them or close their connections, then try again',
  code: 'overloaded',
};

/** Resolves once so much is unread that a list is refused, or so little that it is not. */
async function listed({ client }: TestSurface, status: number): Promise<Answer> {
  const answer = await vi.waitUntil(
    async () => {
      const found = await client.get('/tasks');
      return found.status === status ? found : null;
    },
    { timeout: 10_000 },
  );
  return answer as Answer;
}

describe('a caller that reads nothing', () => {
  it('uses no quota for shared bytes in memory', async () => {
    const published = { body: Buffer.from(JSON.stringify(big)), etag: '"1"' };
    const surface = await startTestSurface({
      traffic: { unread: 8_001_000, patience: 2_000 },
      card: { current: () => published },
    });
    const gone = nextClosed(surface);
    const path = '/.well-known/agent-card.json';
    for (let count = 0; count < 3; count += 1) await askAndPause(surface.client.url, path);
    const card = await surface.client.get(path);
    const list = await surface.client.get('/tasks');
    expect([card.status, card.body.length, list.status]).toEqual([200, big.length, 200]);
    await gone;
  });

  it('is refused further answers, and disconnected later', async () => {
    const surface = await serveBig((length) => ({ unread: length * 8, patience: 2_000 }));
    const { client } = surface;
    const gone = nextClosed(surface);
    await askAndPause(client.url, '/tasks/t1');
    await askAndPause(client.url, '/tasks/t1');
    const { body, headers } = await listed(surface, 503);
    expect([body, headers.get('retry-after')]).toEqual([refusal, '1']);
    expect((await client.get('/healthz')).status).toBe(200);
    expect((await client.decide('t1', { decision: 'approve' })).status).toBe(404);
    expect((await client.post('/tasks/none/cancel', {})).status).toBe(404);
    await gone;
    await listed(surface, 200);
  });

  it('is refused alone, while there is space for others', async () => {
    const surface = await serveBig((length) => ({ unread: length * 8 }));
    const { url } = surface.client;
    await askAndPause(url, '/tasks/t1');
    await askAndPause(url, '/tasks/t1');
    await listed(surface, 503);
    const other = await rawRequest(url, get('/tasks/t1'), '127.0.0.2');
    expect([other.status, other.body.length > big.length]).toEqual([200, true]);
  });

  it('is refused with all others once the total is too large', async () => {
    const surface = await serveBig((length) => ({ unread: length * 2 }));
    const { url } = surface.client;
    const first = await askAndPause(url, '/tasks/t1', '127.0.0.2');
    await askAndPause(url, '/tasks/t1', '127.0.0.3');
    await listed(surface, 503);
    first.destroy();
    await listed(surface, 200);
  });

  it('receives the task id with the refusal', async () => {
    const gate = Promise.withResolvers<string>();
    const surface = await serveBig((length) => ({ unread: length * 4 }), {
      wait: () => gate.promise,
    });
    const { client } = surface;
    const held = client.send('t2', [{ tool: 'wait' }, { tool: 'big' }, { say: '{result}' }]);
    await vi.waitUntil(async () => (await client.get('/tasks/t2')).status === 200, patient);
    await askAndPause(client.url, '/tasks/t1');
    await listed(surface, 503);
    gate.resolve('');
    const { status, body } = await held;
    const error = 'too many answers wait to be read; that of this task is at GET /tasks/t2';
    expect([status, body.error, body.task_id]).toEqual([503, error, 't2']);
  });

  it('of a stream is counted, and disconnected later as well', async () => {
    const surface = await serveBig((length) => ({ unread: length * 4, patience: 2_000 }));
    const gone = nextClosed(surface);
    await askAndPause(surface.client.url, '/tasks/t1/events');
    await listed(surface, 503);
    await gone;
    await listed(surface, 200);
  });
});

describe('a caller that reads', () => {
  it('slowly gets the whole answer, for any duration', async () => {
    const { client } = await serveBig(() => ({ patience: 2_000 }));
    const socket = await askAndPause(client.url, '/tasks/t1');
    let received = 0;
    const sip = setInterval(() => {
      const chunk = (socket.read(125_000) ?? socket.read()) as Buffer | null;
      received += chunk?.length ?? 0;
    }, 50);
    onTestFinished(() => clearInterval(sip));
    await once(socket, 'end');
    expect(received).toBeGreaterThan(big.length);
  });

  it('is counted for that time, also after an answer on the same connection', async () => {
    const gate = Promise.withResolvers<string>();
    const surface = await serveBig(() => ({ patience: 500 }), { wait: () => gate.promise });
    const { hostname, port } = new URL(surface.client.url);
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    const closed = once(socket, 'close');
    const script = [{ tool: 'wait' }, { say: '{result}' }];
    const body = JSON.stringify({ id: 't2', message: playing(script) });
    socket.write(
      `GET /tasks/t1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /tasks/send HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await vi.waitUntil(() => received.length > big.length, { timeout: 10_000 });
    const gone = nextClosed(surface);
    await askAndPause(surface.client.url, '/tasks/t1', '127.0.0.2');
    await gone;
    gate.resolve('waited');
    await closed;
    expect(received.slice(big.length)).toContain('waited');
  });

  it('may send again on the same connection', async () => {
    const surface = await serveBig(() => ({}));
    const asked = [];
    for (let count = 0; count < 4; count += 1) asked.push(await surface.client.get('/tasks/t1'));
    expect(asked.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(asked.map(({ headers }) => headers.get('connection'))).toEqual(
      asked.map(() => 'keep-alive'),
    );
  });
});

describe('long bodies', () => {
  const text = 'x'.repeat(100_000);
  const sending = (id: string) => ({ id, message: playing([{ tool: 'wait' }, { say: text }]) });

  it('of one caller are received a few at once, and short ones always', async () => {
    const { client } = await startTestSurface({ traffic: { received: 500_000 } });
    const { hostname, port } = new URL(client.url);
    const socket = connect(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(
      'POST /tasks/send HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{"id":',
    );
    const long = () => client.post('/tasks/send', { message: saying(text) });
    const refused = await vi.waitUntil(async () => {
      const answer = await long();
      return answer.status === 503 ? answer : null;
    }, patient);
    expect([refused?.body, refused?.headers.get('retry-after')]).toEqual([
      {
        error: 'too many long requests are under way; nothing was started, so try again',
        code: 'overloaded',
      },
      '1',
    ]);
    expect((await client.post('/tasks/send', { message: saying('hi') })).status).toBe(200);
    socket.destroy();
    await vi.waitUntil(async () => (await long()).status === 200, patient);
  });

  it.each([
    ['REST', (client: AgentClient, id: string) => client.post('/tasks/send', sending(id))],
    ['JSON-RPC', (client: AgentClient, id: string) => client.rpc('tasks/send', sending(id))],
    [
      'a stream',
      (client: AgentClient, id: string) =>
        client.stream('/tasks/sendSubscribe', { body: sending(id) }),
    ],
  ])('are not kept with the tasks they started by %s', async (_, send) => {
    const gate = Promise.withResolvers<string>();
    const { client } = await startTestSurface({
      traffic: { received: 500_000 },
      tools: { wait: () => gate.promise },
    });
    const ids = Array.from({ length: 12 }, (_unused, n) => `t${n}`);
    const held: unknown[] = [];
    for (const id of ids) {
      held.push(send(client, id));
      await vi.waitUntil(async () => (await client.get(`/tasks/${id}`)).status === 200, patient);
    }
    gate.resolve('');
    for (const id of ids) {
      await vi.waitUntil(
        async () => (await client.get(`/tasks/${id}`)).body.status.state === 'completed',
        { timeout: 10_000 },
      );
    }
    await Promise.all(held);
  });
});

describe('a request body', () => {
  const message = { parts: [] };
  it.each([
    [{ id: 't', message }, { id: 't' }],
    [{ task: { id: 't', message } }, { task: { id: 't' } }],
    [
      { method: 'm', params: { id: 't', message } },
      { method: 'm', params: { id: 't' } },
    ],
    [{ params: { task: { message } } }, { params: { task: {} } }],
    [[], []],
    ['text', 'text'],
    [undefined, undefined],
  ])('is freed once its task has it: %j', (body, left) => {
    const sent = structuredClone(body);
    forgetMessage({ request: { body: sent }, state: { traffic: someTraffic() } } as never);
    expect(sent).toEqual(left);
  });
});

describe('a slow answer', () => {
  /** A response whose connection accepts a piece when the test lets it. */
  function slowResponse() {
    const story: unknown[] = [];
    const taken: (() => void)[] = [];
    const response = {
      req: { socket: { timeout: 0 } },
      once: () => response,
      setTimeout: (limit: number) => void story.push(limit),
      write(piece: string, done: () => void) {
        story.push(piece);
        taken.push(done);
      },
    };
    return { response: response as never, story, take: () => taken.shift()?.() };
  }

  it('has a time limit for an unread piece, and for nothing else', () => {
    const { response, story, take } = slowResponse();
    const traffic = someTraffic();
    traffic.trickle(response, 'a');
    take();
    traffic.trickle(response, 'b');
    take();
    expect(story).toEqual([30_000, 'a', 0, 30_000, 'b', 0]);
  });

  it('adds no piece to an unread one, and gives its reader no more time', () => {
    const { response, story, take } = slowResponse();
    const traffic = someTraffic();
    for (let beat = 0; beat < 100; beat += 1) traffic.trickle(response, ' ');
    expect(story).toEqual([30_000, ' ']);
    take();
    traffic.trickle(response, ' ');
    expect(story).toEqual([30_000, ' ', 0, 30_000, ' ']);
  });

  it('keeps the limit of its end when an earlier piece is read late', () => {
    const { response, story, take } = slowResponse();
    const traffic = someTraffic();
    traffic.trickle(response, ' ');
    traffic.hold(response, { bytes: 1_000_000, shared: false });
    take();
    expect(story).toEqual([30_000, ' ', 30_000]);
  });
});

describe('the count of unread bytes', () => {
  const readers = ['a', 'b', 'c', 'd', 'e'];
  const answer = fc.record({
    who: fc.constantFrom(...readers),
    bytes: fc.integer({ min: 1, max: 60 }),
    isRead: fc.boolean(),
  });

  it('stays under the limit, and that of a caller under a quarter except for one answer', () => {
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 200 }), (answers) => {
        const unread = new ByteShares({ most: 100, share: 25 });
        const waiting: { who: string; bytes: number }[] = [];
        for (const { who, bytes, isRead } of answers) {
          const mine = waiting.filter((one) => one.who === who);
          const sum = (some: typeof waiting) => some.reduce((total, one) => total + one.bytes, 0);
          const fits = sum(waiting) + bytes <= 100;
          const isFair = mine.length === 0 || sum(mine) + bytes <= 25;
          const hasRoom = unread.hasRoom({ name: who }, bytes);
          expect(hasRoom).toBe(waiting.length === 0 || (fits && isFair));
          if (hasRoom) {
            unread.add({ name: who }, bytes);
            waiting.push({ who, bytes });
          }
          const first = isRead ? waiting.shift() : undefined;
          if (first !== undefined) unread.add({ name: first.who }, -first.bytes);
        }
      }),
    );
  });

  it.each([
    ['signs in', { caller: { provider: 'ops', userId: 'ann' }, clientAddress: '192.0.2.1' }],
    ['comes from a /64', { caller: null, clientAddress: '2001:db8::1' }],
  ])('recognizes a caller who %s', (_, answered) => {
    const count = new TrafficCount({ unread: 1_000_000 });
    new Traffic(count, answered).add(250_000);
    const again = new Traffic(count, { ...answered, clientAddress: '2001:db8::2' });
    expect([again.mayHave(1), again.mayKeep(1), again.mayHave(20_000)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(new Traffic(count, { caller: null, clientAddress: '192.0.2.9' }).mayHave(20_000)).toBe(
      true,
    );
  });
});
