import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import WebSocket from 'ws';
import { assign, createActor, fromPromise, setup, waitFor } from 'xstate';
import { type Inspector, startInspector } from '../../../src/actors/telemetry/inspector.ts';
import type { StatelyEvent } from '../../../src/actors/telemetry/stately-event.ts';

const canary = 'CANARY-4f1d';

interface Call {
  id: string;
  tool: string;
  args: { order: string };
}

const sampleMachine = setup({
  types: {
    input: {} as { id: string; note: string },
    context: {} as { id: string; note: string; pending: Call[]; result: string },
    events: {} as { type: 'call.add'; call: Call; note: string },
    output: {} as { kind: string; text: string },
    tags: {} as 'working' | 'final',
  },
  actors: {
    look: fromPromise<{ text: string }, { taskId: string; text: string }>(({ input }) =>
      Promise.resolve({ text: `found ${input.text}` }),
    ),
    fail: fromPromise<never>(() => Promise.reject(new Error(canary))),
  },
  actions: {
    keepCall: assign(({ context }, call: Call) => ({ pending: [...context.pending, call] })),
    keepResult: assign((_, result: string) => ({ result })),
  },
}).createMachine({
  id: 'sample',
  context: ({ input }) => ({ ...input, pending: [], result: canary }),
  output: ({ context }) => ({ kind: 'done', text: context.result }),
  initial: 'idle',
  states: {
    idle: {
      tags: 'working',
      on: {
        'call.add': {
          target: 'looking',
          actions: { type: 'keepCall', params: ({ event }) => event.call },
        },
      },
    },
    looking: {
      tags: 'working',
      invoke: {
        src: 'look',
        input: ({ context }) => ({ taskId: context.id, text: context.note }),
        onDone: {
          target: 'failing',
          actions: { type: 'keepResult', params: ({ event }) => event.output.text },
        },
      },
    },
    failing: { tags: 'working', invoke: { src: 'fail', onError: 'ended' } },
    ended: { tags: 'final', type: 'final' },
  },
});

const warnings: string[] = [];
const log = {
  info: () => undefined,
  warn: (_: object, message: string) => void warnings.push(message),
  error: (fields: object, message: string) => {
    throw new Error(message, { cause: fields });
  },
};

let inspector: Inspector;

beforeEach(async () => {
  warnings.length = 0;
  inspector = await startInspector({ port: 0, log, now: () => 1_000 });
});

afterEach(() => inspector.stop());

describe('startInspector', () => {
  it('sends the actors, events and snapshots of a live chart in the format of Stately', async () => {
    const received = watchUntil(isEnd);
    const actor = await runSample();
    const events = await received;
    const mine = events.filter(({ sessionId }) => sessionId === actor.sessionId);
    expect(mine.slice(0, 5)).toEqual([
      {
        type: '@xstate.actor',
        ...envelope(1, actor),
        name: 'task:r1',
        definition: expect.stringMatching(/^\{"id":"sample","initial":"idle","states":\{"idle"/),
        snapshot: { status: 'active' },
      },
      {
        type: '@xstate.event',
        ...envelope(2, actor),
        event: { type: 'xstate.init', input: { id: 'r1', note: '[redacted]' } },
      },
      {
        type: '@xstate.snapshot',
        ...envelope(3, actor),
        event: { type: 'xstate.init', input: { id: 'r1', note: '[redacted]' } },
        snapshot: {
          status: 'active',
          value: 'idle',
          tags: ['working'],
          context: { id: 'r1', note: '[redacted]', pending: [], result: '[redacted]' },
        },
      },
      {
        type: '@xstate.event',
        ...envelope(4, actor),
        event: {
          type: 'call.add',
          call: { id: 'c1', tool: 'look_up', args: '[redacted]' },
          note: '[redacted]',
        },
      },
      {
        type: '@xstate.snapshot',
        ...envelope(8, actor),
        event: {
          type: 'call.add',
          call: { id: 'c1', tool: 'look_up', args: '[redacted]' },
          note: '[redacted]',
        },
        snapshot: {
          status: 'active',
          value: 'looking',
          tags: ['working'],
          context: {
            id: 'r1',
            note: '[redacted]',
            pending: [{ id: 'c1', tool: 'look_up', args: '[redacted]' }],
            result: '[redacted]',
          },
        },
      },
    ]);
    expect(mine.at(-1)).toMatchObject({
      type: '@xstate.snapshot',
      snapshot: {
        status: 'done',
        value: 'ended',
        output: { kind: 'done', text: '[redacted]' },
      },
    });
    const children = events.filter(({ type, sessionId }) => {
      return type === '@xstate.actor' && sessionId !== actor.sessionId;
    });
    expect(children.map((child) => 'parentId' in child && child.parentId)).toEqual([
      actor.sessionId,
      actor.sessionId,
    ]);
  });

  it('sends no private data', async () => {
    const received = watchUntil(isEnd);
    await runSample();
    expect(JSON.stringify(await received)).not.toContain(canary);
  });

  it('is compatible with the receiver of Stately', async () => {
    const receiver = createWebSocketReceiver({ server: inspector.url });
    const ended = new Promise<string[]>((resolve) => {
      const types = new Set<string>();
      receiver.subscribe((event) => {
        types.add(event.type);
        if (event.type === '@xstate.snapshot' && event.snapshot.status === 'done') {
          resolve([...types]);
        }
      });
    });
    await runSample();
    expect(await ended).toEqual(['@xstate.actor', '@xstate.event', '@xstate.snapshot']);
    expectTypeOf<StatelyEvent['type']>().toEqualTypeOf<StatelyInspectionEvent['type']>();
    expectTypeOf<keyof (StatelyInspectionEvent & { type: '@xstate.actor' })>().toEqualTypeOf<
      keyof (StatelyEvent & { type: '@xstate.actor' })
    >();
  });

  it('replays recent events to a late watcher', async () => {
    const actor = await runSample();
    const events = await watchUntil(isEnd);
    expect(events[0]).toMatchObject({ type: '@xstate.actor', sessionId: actor.sessionId, id: '1' });
  });

  it('replays the state of an actor and the last thousand events at most', async () => {
    const actor = createActor(sampleMachine, {
      input: { id: 'r1', note: canary },
      inspect: inspector.inspect,
    }).start();
    for (let turn = 0; turn < 1_100; turn += 1) {
      inspector.inspect.next?.({
        type: '@xstate.event',
        rootId: actor.sessionId,
        actorRef: actor,
        sourceRef: undefined,
        event: { type: turn === 1_099 ? 'last' : 'tick' },
      });
    }
    const events = await watchUntil((event) => 'event' in event && event.event.type === 'last');
    const recent = Array.from({ length: 1_000 }, (_, index) => String(index + 104));
    expect(events.map(({ id }) => id)).toEqual(['1', '3', ...recent]);
  });

  it.each([
    ['a wrong token', 401, { query: '?token=wrong' }],
    ['no token', 401, { query: '' }],
    ['a foreign Origin', 403, { origin: 'https://evil.test' }],
    ['a foreign Host', 403, { host: 'evil.test' }],
  ])('refuses %s with %i', async (_, status, change) => {
    await runSample();
    expect(await refusal(change)).toBe(status);
  });

  it('refuses a request without a WebSocket upgrade with 426', async () => {
    const answer = await fetch(`http://127.0.0.1:${portOf(inspector)}/`);
    expect([answer.status, answer.headers.get('upgrade'), await answer.text()]).toEqual([
      426,
      'websocket',
      '',
    ]);
  });

  it('admits a page of this machine', async () => {
    const watcher = new WebSocket(inspector.url, { origin: 'http://localhost:4200' });
    await once(watcher, 'open');
    watcher.terminate();
  });

  it('refuses a ninth watcher with 503', async () => {
    const watchers = Array.from({ length: 8 }, () => new WebSocket(inspector.url));
    await Promise.all(watchers.map((watcher) => once(watcher, 'open')));
    expect(await refusal({})).toBe(503);
  });

  it('disconnects a watcher that sends too much', async () => {
    const watcher = new WebSocket(inspector.url);
    await once(watcher, 'open');
    watcher.send('x'.repeat(2_000));
    const [code] = await once(watcher, 'close');
    expect(code).toBe(1009);
  });

  it('disconnects a watcher that does not read', async () => {
    const slow = await joinWithoutReading();
    const actor = createActor(sampleMachine, { input: { id: 'r1', note: '' } }).start();
    const calls = Array.from({ length: 100 }, () => ({ id: 'c'.repeat(100) }));
    const event = { type: 'tick', calls };
    for (let turn = 0; turn < 5_000 && warnings.length === 0; turn += 1) {
      inspector.inspect.next?.({
        type: '@xstate.event',
        rootId: actor.sessionId,
        actorRef: actor,
        sourceRef: undefined,
        event,
      });
    }
    expect(warnings).toEqual(['inspector: let a slow watcher go']);
    slow.destroy();
  });

  it('affects no actor when an event cannot be shown', async () => {
    const failures: string[] = [];
    const quiet = { ...log, error: (_: object, message: string) => void failures.push(message) };
    const broken = await startInspector({ port: 0, log: quiet });
    const options = { input: { id: 'r1', note: '' }, inspect: broken.inspect };
    const actor = createActor(sampleMachine, options).start();
    const circular: Record<string, unknown> = { type: 'circular' };
    circular.call = circular;
    actor.send(circular as never);
    expect(actor.getSnapshot().status).toBe('active');
    expect(failures).toContain('inspector: an event could not be shown');
    await broken.stop();
  });

  it('disconnects watchers and frees its port when it stops', async () => {
    const watcher = new WebSocket(inspector.url);
    await once(watcher, 'open');
    const gone = once(watcher, 'close');
    await inspector.stop();
    await inspector.stop();
    await gone;
    const again = await startInspector({ port: portOf(inspector), log });
    expect(again.url).not.toBe(inspector.url);
    await again.stop();
  });

  it('states the remedy when its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await expect(startInspector({ port, log })).rejects.toMatchObject({
      code: 'inspector_unavailable',
      message: `the inspector cannot listen on 127.0.0.1:${port}; choose another port with --inspect <port>`,
    });
    other.close();
  });
});

async function runSample() {
  const actor = createActor(sampleMachine, {
    id: 'task:r1',
    input: { id: 'r1', note: canary },
    inspect: inspector.inspect,
  }).start();
  const call = { id: 'c1', tool: 'look_up', args: { order: canary } };
  actor.send({ type: 'call.add', call, note: canary });
  await waitFor(actor, (snapshot) => snapshot.status === 'done');
  return actor;
}

function isEnd(event: StatelyEvent): boolean {
  return event.type === '@xstate.snapshot' && event.snapshot.value === 'ended';
}

function envelope(id: number, { sessionId }: { sessionId: string }) {
  return { id: String(id), rootId: sessionId, sessionId, createdAt: '1000', _version: '0.7.2' };
}

function watchUntil(isLast: (event: StatelyEvent) => boolean): Promise<StatelyEvent[]> {
  const watcher = new WebSocket(inspector.url);
  const events: StatelyEvent[] = [];
  return new Promise((resolve, reject) => {
    watcher.on('error', reject);
    watcher.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as StatelyEvent;
      events.push(event);
      if (!isLast(event)) return;
      watcher.terminate();
      resolve(events);
    });
  });
}

function portOf({ listening }: Inspector): number {
  return listening.port;
}

async function refusal(change: {
  query?: string;
  origin?: string;
  host?: string;
}): Promise<number | undefined> {
  const { query = new URL(inspector.url).search, origin, host } = change;
  const watcher = new WebSocket(`ws://127.0.0.1:${portOf(inspector)}/${query}`, {
    ...(origin === undefined ? {} : { origin }),
    ...(host === undefined ? {} : { headers: { Host: host } }),
  });
  return new Promise((resolve, reject) => {
    watcher.on('open', () => reject(new Error('the watcher was let in')));
    watcher.on('error', reject);
    watcher.on('unexpected-response', (_, response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
}

async function joinWithoutReading(): Promise<Socket> {
  const port = portOf(inspector);
  const socket = connect(port, '127.0.0.1');
  socket.write(
    [
      `GET /${new URL(inspector.url).search} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      '\r\n',
    ].join('\r\n'),
  );
  await once(socket, 'data');
  socket.on('error', () => undefined);
  return socket.pause();
}
