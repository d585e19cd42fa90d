import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentClient } from '../../helpers/agent-client.ts';
import { collectGarbage } from '../../helpers/collect-garbage.ts';
import type { EventReader } from '../../helpers/event-reader.ts';
import { type HubServer, openHub } from '../../helpers/hub-server.ts';
import { anAgent } from '../../helpers/page-fixtures.ts';
import { RawConnection } from '../../helpers/raw-connection.ts';
import { runs } from '../../helpers/runs.ts';

/** Bytes that this process holds. */
function heldBytes(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const request = (url: string) => `GET /api/events HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`;

/** Asks for the stream and reads nothing of it. */
async function pausedReader({ url, hub }: HubServer): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname });
  socket.on('error', () => undefined).pause();
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const before = hub.clients;
  socket.write(request(url));
  await vi.waitUntil(() => hub.clients > before, { timeout: 60_000, interval: 2 });
  return socket;
}

const status = (id: string, text = '') => anAgent({ id, version: text });

describe('a client of the stream that reads nothing (SSE-1)', () => {
  it('is disconnected before much waits for it, without an effect on others', async () => {
    const server = await openHub();
    const { hub, url } = server;
    const client = new AgentClient(url, null);
    const reader = await client.stream('/api/events');
    const paused = await Promise.all(Array.from({ length: 6 }, () => pausedReader(server)));
    const before = heldBytes();
    let most = 0;
    const text = 'x'.repeat(100_000);
    let told = 0;
    // The system buffers some MiB for each of them; later events would be kept here.
    while (hub.clients > 1 && told < 2_000) {
      for (let burst = 0; burst < 4; burst += 1) {
        hub.tell('agent_status', status('till', text));
        told += 1;
        await reader.until(({ event }) => event === 'agent_status');
      }
      if (told % 40 === 0) {
        most = Math.max(most, heldBytes() - before);
        expect((await client.get('/api/health')).status).toBe(200);
      }
    }
    expect(hub.clients).toBe(1);
    // What may wait for each, and as much again for what is on its way and what the test itself reads.
    expect(most).toBeLessThan(32 * 1024 * 1024);
    for (const socket of paused) {
      const closed = once(socket, 'close');
      socket.resume();
      await closed;
    }
    hub.tell('agent_removed', { id: 'last' });
    expect(await reader.next()).toMatchObject({ event: 'agent_removed', data: { id: 'last' } });
  });

  it('is disconnected after a thousand events, however short', async () => {
    const server = await openHub();
    await pausedReader(server);
    const reader = await new AgentClient(server.url, null).stream('/api/events');
    const text = 'x'.repeat(60_000);
    // Until the connection takes no more, nothing waits here.
    for (let round = 0; round < 200; round += 1) {
      server.hub.tell('agent_status', status('till', text));
      await reader.until(({ event }) => event === 'agent_status');
      if (server.hub.clients === 1) break;
    }
    expect(server.hub.clients).toBe(1);
    // In one go: nothing is sent before the end of it, so that all of it waits.
    for (let short = 0; short < 1_500; short += 1) server.hub.tell('agent_removed', { id: 'a' });
    expect((await reader.next())?.event).toBe('agent_removed');
  });
});

interface Step {
  /** What the client does: takes this many events, and is cut off after them. */
  reads: number;
  /** What happens while nobody listens: agents that change, with texts of these lengths. */
  meanwhile: { id: string; length: number }[];
}

const change = fc.record({
  id: fc.constantFrom('one', 'two', 'three', 'four'),
  length: fc.oneof(
    { weight: 6, arbitrary: fc.nat(200) },
    { weight: 2, arbitrary: fc.constantFrom(90_000, 127_000) },
    { weight: 1, arbitrary: fc.constant(300_000) },
  ),
});
const meanwhile = fc.oneof(
  { weight: 5, arbitrary: fc.array(change, { maxLength: 12 }) },
  {
    weight: 1,
    arbitrary: fc.constant(Array.from({ length: 1_200 }, () => ({ id: 'two', length: 9 }))),
  },
);
const step: fc.Arbitrary<Step> = fc.record({ reads: fc.nat(15), meanwhile });

/** A page: it stores what it received, and reads everything when it must. */
class View {
  readonly agents = new Map<string, number>();
  lastEventId: string | null = null;
  resets = 0;
  readonly #server: ReadonlyMap<string, number>;

  constructor(server: ReadonlyMap<string, number>) {
    this.#server = server;
  }

  take({
    id,
    event,
    data,
  }: {
    id: string | undefined;
    event: string | undefined;
    data: any;
  }): void {
    if (event === 'reset') {
      this.resets += 1;
      this.agents.clear();
      for (const [agent, revision] of this.#server) this.agents.set(agent, revision);
    } else if (event === 'agent_status') this.agents.set(data.id, data.pending_deferrals);
    this.lastEventId = id ?? null;
  }
}

describe('a client of the stream that reconnects (SSE-2)', () => {
  it("has the server's state at the end, after any cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const { hub, url } = await openHub();
        const client = new AgentClient(url, null);
        const agents = new Map<string, number>();
        let revision = 0;
        const tell = ({ id, length }: Step['meanwhile'][number]): void => {
          revision += 1;
          agents.set(id, revision);
          hub.tell('agent_status', {
            ...status(id, 'x'.repeat(length)),
            pending_deferrals: revision,
          });
        };
        const view = new View(agents);
        const open = (): Promise<EventReader> =>
          client.stream(
            '/api/events',
            view.lastEventId === null ? {} : { lastEventId: view.lastEventId },
          );
        for (const { reads, meanwhile: changes } of steps) {
          const reader = await open();
          // More comes while it listens; it takes some of that.
          for (const one of changes.slice(0, 4)) tell(one);
          for (let read = 0; read < reads; read += 1) {
            if (view.lastEventId === `run.${revision}`) break;
            view.take((await reader.next())!);
          }
          reader.leave();
          for (const one of changes.slice(4)) tell(one);
        }
        const reader = await open();
        tell({ id: 'one', length: 1 });
        while (view.lastEventId !== `run.${revision}`) {
          const event = await reader.next();
          if (event === undefined) throw new Error('the stream ended');
          view.take(event);
        }
        reader.leave();
        expect(view.agents).toEqual(agents);
      }),
      { numRuns: runs(40) },
    );
  });

  it('receives everything that it missed, or reads everything again', async () => {
    const { hub, url } = await openHub();
    const client = new AgentClient(url, null);
    const first = await client.stream('/api/events');
    const { id } = (await first.next())!;
    first.leave();
    for (let n = 0; n < 1_000; n += 1) hub.tell('agent_removed', { id: String(n) });
    const back = await client.stream('/api/events', { lastEventId: id! });
    const missed = await back.until(({ data }) => data.id === '999');
    expect(missed.map(({ data }) => data.id)).toEqual(
      Array.from({ length: 1_000 }, (_, n) => String(n)),
    );
    back.leave();
    hub.tell('agent_removed', { id: 'more' });
    const late = await client.stream('/api/events', { lastEventId: id! });
    expect(await late.next()).toEqual({ id: 'run.1001', event: 'reset', data: {} });
    late.leave();
  });

  it('reads separately what is too long for an event', async () => {
    const { hub, url } = await openHub();
    const reader = await new AgentClient(url, null).stream('/api/events');
    await reader.next();
    hub.tell('agent_status', status('till', 'x'.repeat(1_000_000)));
    expect(await reader.next()).toEqual({ id: 'run.1', event: 'reset', data: {} });
    reader.leave();
  });
});

describe('an event (SSE-3)', () => {
  it('is one line of JSON between its name and a blank line, with any agent name', async () => {
    const { hub, url } = await openHub();
    const raw = new RawConnection(url);
    raw.socket.setEncoding('utf8');
    raw.socket.write(request(url));
    await raw.until(/event: reset\ndata: \{\}\n\n/);
    const piece = fc.oneof(
      fc.constantFrom(
        '\n',
        '\r',
        '\r\n',
        '\n\n',
        '\u2028',
        '\u2029',
        '\0',
        'data: x',
        'id: 7',
        ':',
      ),
      fc.string({ unit: 'grapheme', maxLength: 8 }),
    );
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
    let told = 0;
    await fc.assert(
      fc.asyncProperty(text, text, async (id, error) => {
        told += 1;
        raw.text = '';
        hub.tell('agent_status', anAgent({ id, error }));
        const end = new RegExp(`^(?:[0-9a-f]+\r\n)?id: run\\.${told}\n[^]*\n\n\r\n$`);
        const [, name, data, ...rest] = (await raw.until(end)).split('\n').slice(1);
        expect([name, rest]).toEqual(['event: agent_status', ['', '\r', '']]);
        expect(JSON.parse(data!.slice('data: '.length))).toMatchObject({
          id: id.toWellFormed(),
          error: error.toWellFormed(),
        });
      }),
      { numRuns: runs(200) },
    );
  });
});

describe('an idle stream (SSE-4)', () => {
  it('sends a sign of life every four seconds', async () => {
    const { url, clock } = await openHub();
    const raw = new RawConnection(url);
    raw.socket.write(request(url));
    const head = await raw.until(/event: reset\ndata: \{\}\n\n/);
    expect(head).toMatch(/\r\nCache-Control: no-store, no-transform\r\n/i);
    expect(head).toMatch(/\r\nX-Accel-Buffering: no\r\n/i);
    expect(head).toMatch(/\r\nContent-Type: text\/event-stream\r\n/i);
    for (let beat = 0; beat < 5; beat += 1) {
      raw.text = '';
      clock.advance(3_800);
      expect(raw.text).toBe('');
      clock.advance(400);
      await raw.until(/: keep-alive\n\n/);
    }
  });
});

describe('clients that connect and disconnect (SSE-6)', () => {
  it('leave nothing in memory', async () => {
    const { url, hub, clock, server } = await openHub();
    const { hostname, port } = new URL(url);
    const visit = async (): Promise<void> => {
      const socket = connect({ port: Number(port), host: hostname });
      socket.on('error', () => undefined);
      socket.write(request(url));
      await once(socket, 'data');
      socket.destroy();
    };
    const rounds = async (count: number): Promise<number> => {
      for (let round = 0; round < count; round += 1) {
        await Promise.all(Array.from({ length: 25 }, visit));
        await vi.waitUntil(() => hub.clients === 0, { timeout: 60_000, interval: 1 });
      }
      return heldBytes();
    };
    const before = await rounds(40);
    const listeners = process.eventNames().length;
    const after = await rounds(80);
    expect([hub.clients, clock.pending, process.eventNames().length]).toEqual([0, 0, listeners]);
    expect(server.listenerCount('connection')).toBe(1);
    // A kilobyte that each of them left would be 2 MiB.
    expect(after - before).toBeLessThan(2 * 1024 * 1024);
  });
});
