import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Clock } from '../../../src/actors/ports/clock.ts';
import { systemClock } from '../../../src/actors/system-clock.ts';
import { IllAgent, runtimeToken } from '../../helpers/ill-agent.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { openDashboard, type TestDashboard } from '../../helpers/test-dashboard.ts';

const patience = { timeout: 60_000, interval: 25 };

/** The answer of another agent to any request. */
const well: RequestListener = (request, response) => {
  if (request.url?.startsWith('/events')) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
  } else response.end('{"tasks":[],"sessions":[],"deferrals":[]}');
};

async function openWith(ill: IllAgent, clock: Clock = systemClock()): Promise<TestDashboard> {
  const other = await IllAgent.open(well);
  const page = await openDashboard(
    (workspace) => {
      ill.settle(workspace, 'ill');
      other.settle(workspace, 'well');
    },
    { clock },
  );
  const { body } = await page.get('/api/agents');
  expect(body.map(({ id, status }: Record<string, string>) => [id, status])).toEqual([
    ['ill', 'running'],
    ['well', 'running'],
  ]);
  return page;
}

/** A clock that runs five times as fast as that of the machine, until the test has finished. */
function hastyClock(): Clock {
  const clock = new ManualClock(Date.now());
  const timer = setInterval(() => clock.advance(5 * patience.interval), patience.interval);
  onTestFinished(() => clearInterval(timer));
  return clock;
}

const given = { decision: 'approve', token: 'of-ann' };

/** Every route that asks an agent. */
const routes: [string, string, object?][] = [
  ['GET', '/tasks'],
  ['GET', '/tasks/t1'],
  ['GET', '/tasks/t1/events'],
  ['POST', '/tasks/t1/decisions', given],
  ['POST', '/deferrals/decisions', { decisions: [{ task_id: 't1', ...given }] }],
  ['POST', '/tasks/t1/cancel', {}],
  ['POST', '/chat', { message: 'hello' }],
  ['GET', '/sessions'],
  ['GET', '/sessions/s1'],
];

/** Asks everything of an agent at once. */
function askAll(page: TestDashboard, id: string) {
  return Promise.all(
    routes.map(async ([method, path, body]) => {
      const answer = await page.request(method, `/api/agents/${id}${path}`, { body });
      return { status: answer.status, body: answer.body };
    }),
  );
}

function stream(response: ServerResponse, piece: string | Buffer): void {
  const write = (): void => {
    for (let count = 0; count < 16 && !response.destroyed; count += 1) {
      if (!response.write(piece)) return;
    }
    if (!response.destroyed) setImmediate(write);
  };
  response.on('drain', write);
  write();
}

type Opened = () => Promise<IllAgent>;

const late = 'the agent did not respond in time';
const broken = 'the connection to the agent broke';

const ills: [string, number, string | RegExp, Opened][] = [
  ['accepts and hangs', 504, late, () => IllAgent.raw(() => undefined)],
  ['proves who it is and hangs', 504, late, () => IllAgent.open(() => undefined)],
  [
    'answers 500',
    502,
    'the agent answered with status 500: no idea',
    () => IllAgent.open((_, to) => void to.writeHead(500).end('{"error":"no idea"}')),
  ],
  [
    'sends half a JSON and hangs up',
    502,
    /^(the answer of the agent is not JSON|the connection to the agent broke|the agent answered with status 200)$/,
    () =>
      IllAgent.open((_, to) => {
        to.writeHead(200, { 'content-type': 'application/json' }).write('{"tasks":[{"id"');
        setTimeout(() => to.destroy(), 20);
      }),
  ],
  [
    'sends half a JSON and ends',
    502,
    'the answer of the agent is not JSON',
    () => IllAgent.open((_, to) => void to.end('{"tasks":[{"id"')),
  ],
  ['speaks no HTTP', 502, broken, () => IllAgent.raw((socket) => void socket.end('SSH-2.0-x\r\n'))],
  [
    'answers without end',
    502,
    'the answer of the agent is too long',
    () => IllAgent.open((_, to) => stream(to, Buffer.alloc(64 * 1024, 'x'))),
  ],
  [
    'sends 10 MB',
    502,
    'the answer of the agent is too long',
    () => IllAgent.open((_, to) => void to.end(Buffer.alloc(10_000_000, ' '))),
  ],
  [
    'is an impostor',
    502,
    /^the server at http:\/\/127\.0\.0\.1:\d+ is not the agent of this folder; nothing was sent to it$/,
    () => IllAgent.open(well, false),
  ],
];

describe('a hostile agent', () => {
  it.each(ills)(
    'that %s is reported with %i and a message, while another answers',
    async (_, status, sentence, open) => {
      const ill = await open();
      const clock = status === 504 ? hastyClock() : systemClock();
      const page = await openWith(ill, clock);
      let isAnswered = false;
      const asking = askAll(page, 'ill').finally(() => (isAnswered = true));
      for (const path of ['/tasks', '/sessions']) {
        const answer = await page.get(`/api/agents/well${path}`);
        expect([path, answer.status]).toEqual([path, 200]);
        if (status === 504) expect(isAnswered).toBe(false);
      }
      const answers = await asking;
      const code = expect.stringMatching(
        status === 504 ? /^agent_timeout$/ : /^(agent_unreachable|bad_gateway)$/,
      );
      const same = { status, body: { error: expect.stringMatching(sentence), code } };
      expect(answers).toEqual(Array(routes.length).fill(same));
      const { body } = await page.get('/api/deferrals');
      expect([body.deferrals, body.unasked]).toEqual([[], ['ill']]);
      expect(JSON.stringify(answers)).not.toMatch(new RegExp(`of-ann|${runtimeToken}`));
      // What follows the agent is all that may still be there.
      await vi.waitUntil(() => ill.connections <= 2, patience);
    },
  );

  it('that hangs does not delay other waiting calls, and is asked again until it answers', async () => {
    const hanging: ServerResponse[] = [];
    let isFast = false;
    const ill = await IllAgent.open((request, to) => {
      const isAsked = request.url?.startsWith('/deferrals') === true;
      if (isAsked && !isFast) hanging.push(to);
      else well(request, to);
    });
    const page = await openWith(ill);
    const before = performance.now();
    const [first, second] = await Promise.all([
      page.get('/api/deferrals'),
      page.get('/api/deferrals'),
    ]);
    // All the while one agent may take is five times as long.
    expect(performance.now() - before).toBeLessThan(4_500);
    expect([first.body, second.body]).toEqual(
      Array(2).fill({ deferrals: [], total: 0, unasked: ['ill'], now: expect.any(String) }),
    );
    const leaving = new AbortController();
    const events = await fetch(`${page.dashboard.url}/api/events`, { signal: leaving.signal });
    isFast = true;
    for (const response of hanging) response.end('{"deferrals":[]}');
    const decoder = new TextDecoder();
    let told = '';
    for await (const chunk of events.body!) {
      told += decoder.decode(chunk as Uint8Array, { stream: true });
      // The first is for the caller that has just arrived.
      if (told.split('event: reset').length > 2) break;
    }
    leaving.abort();
    expect((await page.get('/api/deferrals')).body).toMatchObject({ deferrals: [], unasked: [] });
  });

  it('receives no token before it has proved its identity', async () => {
    const impostor = await IllAgent.open(well, false);
    const page = await openWith(impostor);
    await askAll(page, 'ill');
    expect([impostor.asked, impostor.shown]).toEqual([[], []]);
  });

  it('leads the dashboard to no other address', async () => {
    const reached: (string | undefined)[] = [];
    const elsewhere = await listenOnLoopback(
      createServer((request, response) => {
        reached.push(request.url);
        response.end('{"tasks":[]}');
      }),
    );
    const page = await openWith(
      await IllAgent.open((_, to) => {
        to.writeHead(302, { location: `${elsewhere}/taken` }).end('{"error":"go there"}');
      }),
    );
    const same = {
      status: 502,
      body: { error: 'the agent answered with status 302: go there', code: 'bad_gateway' },
    };
    expect(await askAll(page, 'ill')).toEqual(Array(routes.length).fill(same));
    const { headers } = await page.get('/api/agents/ill/tasks');
    expect([headers.get('location'), reached]).toEqual([null, []]);
  });

  it('answers a task request without a task, and that is reported', async () => {
    const page = await openWith(await IllAgent.open((_, to) => void to.end('[1, 2]')));
    const { status, body } = await page.get('/api/agents/ill/tasks/t1');
    expect([status, body]).toEqual([
      502,
      { error: 'the agent did not return a task', code: 'bad_gateway' },
    ]);
  });
});

/** Takes a message, and streams its task by `tell`. */
function taking(tell: (response: ServerResponse) => void): RequestListener {
  return (request, response) => {
    const { url = '' } = request;
    if (url === '/') {
      return void response.end('{"jsonrpc":"2.0","id":1,"result":{"id":"t1","contextId":"s1"}}');
    }
    if (url !== '/tasks/t1/events') return well(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return tell(response);
  };
}

const progress = (text: string) => `event: progress\ndata: ${JSON.stringify({ text })}\n\n`;

describe('a conversation with a hostile agent', () => {
  it('that never ends is disconnected when its reader disconnects', async () => {
    const closed = Promise.withResolvers<void>();
    const ill = await IllAgent.open(
      taking((to) => {
        to.once('close', () => closed.resolve());
        stream(to, progress('on and on'));
      }),
    );
    const page = await openWith(ill);
    const talk = await page.stream('/api/agents/ill/chat', { body: { message: 'hello' } });
    for (let read = 0; read < 200; read += 1) {
      expect(await talk.next()).toMatchObject({ event: 'progress', data: { text: 'on and on' } });
    }
    expect((await page.get('/api/agents/well/tasks')).status).toBe(200);
    talk.leave();
    await closed.promise;
  });

  it('is disconnected when its reader reads nothing', async () => {
    const closed = Promise.withResolvers<void>();
    const ill = await IllAgent.open(
      taking((to) => {
        to.once('close', () => closed.resolve());
        stream(to, progress('x'.repeat(64 * 1024)));
      }),
    );
    const page = await openWith(ill);
    const { hostname, port, host } = new URL(page.url);
    const socket = connect({ port: Number(port), host: hostname });
    socket.on('error', () => undefined).pause();
    socket.write(
      `POST /api/agents/ill/chat HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"message":"x"}`,
    );
    await closed.promise;
    const gone = once(socket, 'close');
    socket.resume();
    await gone;
    expect((await page.get('/api/agents/well/tasks')).status).toBe(200);
  });

  it('is not followed for a reader that left before the agent accepted the message', async () => {
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const ill = await IllAgent.open((request, response) => {
      if (request.url !== '/') {
        return taking((to) => {
          to.once('close', () => closed.resolve());
          to.write(progress('is anybody there?'));
        })(request, response);
      }
      asked.resolve();
      void answer.promise.then(() => taking(() => undefined)(request, response));
      return undefined;
    });
    const page = await openWith(ill);
    const abort = new AbortController();
    const left = page
      .open('POST', '/api/agents/ill/chat', { body: { message: 'hello' }, signal: abort.signal })
      .catch(() => 'left');
    await asked.promise;
    abort.abort();
    expect(await left).toBe('left');
    // The server has heard of it once it answers a request that came after.
    await page.get('/api/health');
    answer.resolve();
    // It is either never opened, or closed at once.
    await vi.waitUntil(() => ill.asked.includes('POST /'), patience);
    if (ill.asked.includes('GET /tasks/t1/events')) await closed.promise;
    await vi.waitUntil(() => ill.connections <= 3, patience);
  });

  it.each([
    ['no JSON', 'event: progress\ndata: {\n\n'],
    ['nothing', ''],
  ])(
    'ends with an error and its session when the agent sends %s and disconnects',
    async (_, text) => {
      const ill = await IllAgent.open(
        taking((to) => {
          to.write(`: open\n\n${text}`);
          setTimeout(() => to.destroy(), 50);
        }),
      );
      const page = await openWith(ill);
      const body = { message: 'hello' };
      const answer = await page.request('POST', '/api/agents/ill/chat', { body });
      expect(answer.body).toBe(
        [
          text,
          'event: error\ndata: {"error":"the connection to the agent broke"}\n\n',
          'event: done\ndata: {"session_id":"s1","task_id":"t1"}\n\n',
        ].join(''),
      );
    },
  );

  it('shows only permitted events of an agent', async () => {
    const ill = await IllAgent.open(
      taking((to) => {
        to.end(
          [
            'event: agent_removed\ndata: {"id":"well"}\n\n',
            'event: done\ndata: {"session_id":"of another"}\n\n',
            'event: progress\nid: 7\nretry: 1\ndata: {"text":"a\\nevent: reset\\u2028"}\n\n',
            'event: progress\rdata: {"text":\rdata: "two lines"}\r\r',
          ].join(''),
        );
      }),
    );
    const page = await openWith(ill);
    const talk = await page.stream('/api/agents/ill/chat', { body: { message: 'hello' } });
    expect(await talk.rest()).toEqual([
      { id: undefined, event: 'progress', data: { text: 'a\nevent: reset\u2028' } },
      { id: undefined, event: 'progress', data: { text: 'two lines' } },
      { id: undefined, event: 'done', data: { session_id: 's1', task_id: 't1' } },
    ]);
  });
});

describe('the events of a hostile agent', () => {
  it('lead to at most one reset a second, and do not delay others', async () => {
    let said = 0;
    const ill = await IllAgent.open((request, response) => {
      if (request.url !== '/events') return void response.end('{"tasks":[],"deferrals":[]}');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (): void => {
        for (let count = 0; count < 500 && !response.destroyed; count += 1) {
          said += 1;
          if (!response.write(`event: task\ndata: {"id":"t${said}"}\n\n`)) return;
        }
        if (!response.destroyed) setImmediate(write);
      };
      response.on('drain', write);
      write();
      return undefined;
    });
    const page = await openWith(ill);
    const events = await page.stream('/api/events');
    const begin = performance.now();
    let resets = 0;
    let last = begin;
    while (resets < 4) {
      const { event } = (await events.next())!;
      if (event !== 'reset') continue;
      resets += 1;
      last = performance.now();
      expect((await page.get('/api/agents/well/tasks')).status).toBe(200);
    }
    events.leave();
    expect(said).toBeGreaterThan(500);
    // The first comes with the stream, and one when each of the two agents is first heard.
    expect(last - begin).toBeGreaterThan(900);
  });
});
