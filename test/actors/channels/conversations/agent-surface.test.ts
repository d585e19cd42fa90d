import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentSurface } from '../../../../src/actors/channels/conversations/agent-surface.ts';
import { Conversations } from '../../../../src/actors/channels/conversations/conversations.ts';
import { createOwnFetch } from '../../../../src/actors/outbound/egress/egress.ts';
import { systemClock } from '../../../../src/actors/system-clock.ts';
import { aSaying, aTurn } from '../../../helpers/chat-thread.ts';
import { MemoryChat } from '../../../helpers/memory-chat.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** Something that is asked as an agent is, and says what a test wants. */
async function anAgent(answer: Answer) {
  const asked: { call: string; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      const call = `${request.method} ${request.url}`;
      asked.push({ call, headers: request.headers, body });
      answer(request, response, body);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const own = createOwnFetch(new URL(url));
  onTestFinished(async () => {
    await own.close();
    server.closeAllConnections();
    server.close();
  });
  return { asked, surface: new AgentSurface({ url, token: 'canary', fetch: own.fetch }) };
}

const json = (response: ServerResponse, status: number, body: unknown, headers = {}) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
};

const { signal } = new AbortController();

describe('a message to the agent', () => {
  it('names its author, the represented user and the thread', async () => {
    const { asked, surface } = await anAgent(({ method }, response) =>
      json(response, method === 'GET' ? 404 : 429, { error: 'x' }),
    );
    await surface.ask(aTurn(), signal);
    const { call, headers, body } = asked[1]!;
    expect({
      calls: asked.map((each) => each.call),
      call,
      authorization: headers.authorization,
      caller: headers['x-invocation-caller'],
      behalf: asked.map((each) => each.headers['x-service-on-behalf-of']),
      body: JSON.parse(body),
    }).toEqual({
      calls: ['GET /tasks/memory.room.1', 'POST /tasks/send'],
      call: 'POST /tasks/send',
      authorization: 'Bearer canary',
      caller: 'memory:ann',
      behalf: ['memory:ann ann@example.com', 'memory:ann ann@example.com'],
      body: {
        task: {
          id: 'memory.room.1',
          contextId: 'memory.room.1',
          message: {
            role: 'user',
            messageId: 'memory:m-1',
            parts: [{ kind: 'text', text: 'hello' }],
          },
        },
      },
    });
  });

  it('names an author without an email by id only', async () => {
    const { asked, surface } = await anAgent(({ method }, response) =>
      json(response, method === 'GET' ? 404 : 429, { error: 'x' }),
    );
    await surface.ask(aTurn({ from: { id: 'memory:eve', name: 'Eve', email: null } }), signal);
    expect(asked[1]!.headers['x-service-on-behalf-of']).toBe('memory:eve');
  });

  it('is not sent again when the answer to a late message is lost', async () => {
    const { asked, surface } = await anAgent((_, response) => json(response, 404, { error: 'x' }));
    const late = { ...aTurn(), isLate: true };
    expect([await surface.ask(late, signal), asked.length]).toEqual([
      { kind: 'ended', end: { kind: 'gone' } },
      1,
    ]);
  });
});

describe('a refusal by the agent', () => {
  it.each<[number, unknown, string, object?]>([
    [400, { error: 'canary' }, 'refused'],
    [401, { error: 'canary' }, 'unauthorized'],
    [401, { error: 'step_up_required', tool: 'pay' }, 'assurance'],
    [402, { error: 'canary' }, 'admission'],
    [403, '<html>canary</html>', 'unauthorized'],
    [409, { error: 'canary' }, 'running'],
    [413, { error: 'canary' }, 'tooLong'],
    [429, { error: 'canary' }, 'limited'],
    [500, 'canary', 'unavailable'],
    [503, { error: 'canary' }, 'unavailable'],
  ])('of %d has our own text', async (status, body, refusal) => {
    const { surface } = await anAgent(({ method }, response) =>
      json(response, method === 'GET' ? 404 : status, body, { 'retry-after': '7' }),
    );
    const retryAfter = refusal === 'assurance' ? null : 7_000;
    expect(await surface.ask(aTurn(), signal)).toEqual({ kind: 'refused', refusal, retryAfter });
  });

  it('that names the task releases the connection, not the task', async () => {
    const { surface } = await anAgent(({ method }, response) =>
      json(response, method === 'GET' ? 404 : 503, { error: 'bye', task_id: 'memory.room.1' }),
    );
    expect(await surface.ask(aTurn(), signal)).toEqual({ kind: 'running' });
  });

  it('is reported even when the look-up is refused', async () => {
    const { asked, surface } = await anAgent((_, response) => json(response, 503, { error: 'x' }));
    expect([await surface.ask(aTurn(), signal), asked.length]).toEqual([
      { kind: 'refused', refusal: 'unavailable', retryAfter: null },
      1,
    ]);
  });
});

describe('the follower of a task', () => {
  it('reports each held call once, the continuation and the end', async () => {
    const history = [{ role: 'user', messageId: 'memory:m-1', parts: [] }];
    const deferral = { id: 'd-1', tool: 'pay', to: 'channel:slack:refunds' };
    const status = (state: string, more = {}) =>
      `event: status\nid: 1\ndata: ${JSON.stringify({ status: { state }, history, ...more })}\n\n`;
    const events = [
      status('working'),
      status('deferred', { metadata: { deferral } }),
      ': keep-alive\n\nevent: progress\ndata: {"phase":"token"}\n\n',
      status('deferred', { metadata: { deferral } }),
      status('working'),
      status('deferred', { metadata: { deferral: { ...deferral, id: 'd-2' } } }),
      status('canceled'),
    ].join('');
    const { surface } = await anAgent((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // Pieces end where they like.
      for (let at = 0; at < events.length; at += 7) response.write(events.slice(at, at + 7));
      response.end();
    });
    const heard: unknown[] = [];
    await surface.follow(
      aTurn(),
      {
        held: ({ id }) => void heard.push(['held', id]),
        resumed: () => void heard.push('resumed'),
        ended: (end) => void heard.push(end),
      },
      signal,
    );
    expect(heard).toEqual([
      ['held', 'd-1'],
      'resumed',
      ['held', 'd-2'],
      { kind: 'canceled', text: '' },
    ]);
  });
});

describe('more threads than the agent works on at once', () => {
  it('wait for earlier ones, and lose nothing', async () => {
    const held: (() => void)[] = [];
    const { surface, asked } = await anAgent(({ method }, response, body) => {
      if (method === 'GET') return json(response, 404, { error: 'not yet' });
      const { message } = JSON.parse(body).task;
      const answer = { role: 'agent', messageId: 'a', parts: [{ kind: 'text', text: 'ok' }] };
      const task = { status: { state: 'completed' }, history: [message, answer] };
      held.push(() => json(response, 200, task));
    });
    const store = await openStore(temporaryFolder());
    const chat = new MemoryChat();
    const note = () => undefined;
    const mostThreads = 5;
    const conversations = new Conversations({
      surface,
      ports: () => chat,
      rows: store.conversations,
      mostThreads,
      clock: systemClock(),
      log: { info: note, warn: note, error: note },
    });
    onTestFinished(async () => {
      await conversations.stop();
      await store.close();
    });
    const more = 7;
    for (let room = 0; room < mostThreads + more; room += 1) {
      void conversations.receive(
        aSaying({ id: `m-${room}`, thread: `memory.room.${room}`, ref: { room } }),
      );
    }
    const sent = () => asked.filter(({ call }) => call === 'POST /tasks/send').length;
    const waits = { timeout: 10_000, interval: 5 };
    for (const sending of [mostThreads, 2 * mostThreads, mostThreads + more]) {
      await vi.waitUntil(() => sent() === sending, waits);
      for (const release of held.splice(0)) release();
    }
    const said = () => chat.noted.filter(([, words]) => words === 'ok').length;
    await vi.waitUntil(() => said() === mostThreads + more, waits);
    await vi.waitUntil(async () => (await store.conversations.open()).length === 0, waits);
  });
});
