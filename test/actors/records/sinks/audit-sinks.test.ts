import { readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AuditSinks,
  createAuditSinks,
  type SinkSettings,
} from '../../../../src/actors/records/sinks/audit-sinks.ts';
import type { QueueBounds } from '../../../../src/actors/records/sinks/line-queue.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { anEvent } from '../../../helpers/stored-tasks.ts';
import { storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

/** Sinks with a clock that the test moves, and what they said. */
function openSinks(
  sinks: readonly SinkSettings[],
  more: { directory?: string; bounds?: QueueBounds; env?: Record<string, string> } = {},
) {
  const clock = new ManualClock(0);
  const recorded: unknown[] = [];
  const logged: unknown[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, ...fields, message });
  const opened = createAuditSinks({
    sinks,
    directory: more.directory ?? temporaryFolder(),
    env: more.env ?? {},
    clock,
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    record: (event) => void recorded.push(event),
    ...(more.bounds && { bounds: more.bounds }),
  });
  onTestFinished(async () => {
    const closing = opened.close();
    clock.advance(2_000);
    await closing;
  });
  return { sinks: opened, clock, recorded, logged };
}

/** A listener on a UNIX socket that keeps what arrives. */
async function listenOn(path: string) {
  rmSync(path, { force: true });
  const callers = new Set<Socket>();
  let text = '';
  const server = createServer((caller) => {
    callers.add(caller);
    caller.setEncoding('utf8');
    caller.on('data', (piece: string) => {
      text += piece;
    });
    caller.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const caller of callers) caller.destroy();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return { received: () => text, close, callers };
}

/** A collector with configured answers that keeps what it was sent. */
async function collector(answer: (request: number) => number | null) {
  const requests: { body: string; headers: IncomingHttpHeaders }[] = [];
  const server = createHttpServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      requests.push({ body, headers: request.headers });
      const status = answer(requests.length);
      if (status !== null) response.writeHead(status, { location: '/elsewhere' }).end('noted');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/audit`, requests };
}

function http(url: string, more: object = {}): SinkSettings {
  return { type: 'http', url, batch: 500, timeout: 10_000, ...more };
}

/** Waits until something holds; the test's own time limit ends a wait in vain. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

const offer = (sinks: AuditSinks, ...lines: string[]): void =>
  sinks.offer(Buffer.from(lines.map((line) => `${line}\n`).join('')));

const deliveredBy = (sinks: AuditSinks): number => sinks.stats()[0]?.delivered ?? 0;

describe('a sink on a UNIX socket', () => {
  it('gets the lines of the log as they are stored', async () => {
    const directory = temporaryFolder();
    const listener = await listenOn(join(directory, 'audit.sock'));
    const { sinks } = openSinks([{ type: 'unix', path: 'audit.sock' }], { directory });
    const { path, audit } = storeFiles(directory);
    const rotation = { maxBytes: 0, daily: false, keep: 0 };
    const onCommitted = (lines: Uint8Array): void => sinks.offer(lines);
    const store = await SqliteStore.open({ path, audit: { ...audit, rotation, onCommitted } });
    await store.record([anEvent('zu spät 🧾', 1), anEvent('t-2', 1)]);
    await store.record([anEvent('t-1', 2)]);
    await store.close();
    await until(() => deliveredBy(sinks) === 3);
    await until(() => listener.received() === readFileSync(audit.path, 'utf8'));
    expect(sinks.stats()).toEqual([
      { name: 'unix', state: 'open', delivered: 3, dropped: 0, lag: 0 },
    ]);
  });

  it('keeps lines without a listener, logs that once, and delivers them later', async () => {
    const directory = temporaryFolder();
    const { sinks, clock, recorded, logged } = openSinks([{ type: 'unix', path: 'audit.sock' }], {
      directory,
      bounds: { lines: 3, bytes: 1_000 },
    });
    await until(() => sinks.stats()[0]?.state === 'backoff');
    offer(sinks, 'a', 'b', 'c', 'd', 'e');
    clock.advance(1_000);
    await until(() => sinks.stats()[0]?.state === 'backoff');
    expect(sinks.stats()).toEqual([
      { name: 'unix', state: 'backoff', delivered: 0, dropped: 2, lag: 3 },
    ]);
    const listener = await listenOn(join(directory, 'audit.sock'));
    clock.advance(2_000);
    await until(() => listener.received() === 'a\nb\nc\n');
    await until(() => recorded.length === 2);
    offer(sinks, 'f');
    await until(() => listener.received() === 'a\nb\nc\nf\n');
    const down = {
      sink: 'unix',
      state: 'down',
      dropped: 0,
      error: 'no process reads the socket (ENOENT)',
    };
    const up = { sink: 'unix', state: 'up', dropped: 2 };
    expect(recorded).toEqual([
      { event: 'audit_sink', fields: down },
      { event: 'audit_sink', fields: up },
    ]);
    expect(logged).toEqual([
      { level: 'warn', ...down, message: 'audit: a sink rejects lines' },
      { level: 'info', ...up, message: 'audit: a sink accepts lines again' },
    ]);
  });

  it('detects a disconnect before there is anything to write', async () => {
    const directory = temporaryFolder();
    const path = join(directory, 'audit.sock');
    const listener = await listenOn(path);
    const { sinks, recorded } = openSinks([{ type: 'unix', path }]);
    await until(() => listener.callers.size === 1);
    await listener.close();
    await until(() => sinks.stats()[0]?.state === 'backoff');
    expect(recorded).toEqual([
      {
        event: 'audit_sink',
        fields: { sink: 'unix', state: 'down', dropped: 0, error: 'the other end hung up' },
      },
    ]);
  });

  it('drops lines, and reports it, when the receiver reads nothing', async () => {
    const directory = temporaryFolder();
    const listener = await listenOn(join(directory, 'audit.sock'));
    const { sinks, recorded } = openSinks([{ type: 'unix', path: 'audit.sock' }], {
      directory,
      bounds: { lines: 20, bytes: 100_000_000 },
    });
    await until(() => listener.callers.size === 1);
    for (const caller of listener.callers) caller.pause();
    const large = 'x'.repeat(1_000_000);
    while (sinks.stats()[0]?.dropped === 0) {
      offer(sinks, large);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(recorded).toEqual([
      {
        event: 'audit_sink',
        fields: {
          sink: 'unix',
          state: 'down',
          dropped: 1,
          error: 'more lines wait than the queue holds',
        },
      },
    ]);
    for (const caller of listener.callers) caller.resume();
    await until(() => recorded.length === 2);
    expect(recorded[1]).toEqual({
      event: 'audit_sink',
      fields: { sink: 'unix', state: 'up', dropped: 0 },
    });
  });
});

describe('a sink over HTTP', () => {
  it('posts batches of lines with its token', async () => {
    const { url, requests } = await collector(() => 202);
    const { sinks } = openSinks([http(url, { batch: 2, token_env: 'COLLECTOR_TOKEN' })], {
      env: { COLLECTOR_TOKEN: 'token-of-the-collector' },
    });
    offer(sinks, 'a', 'b', 'c', 'd', 'e');
    await until(() => deliveredBy(sinks) === 5);
    expect(requests.map(({ body }) => body)).toEqual(['a\nb\n', 'c\nd\n', 'e\n']);
    expect(requests[0]?.headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      authorization: 'Bearer token-of-the-collector',
    });
  });

  it.each([503, 400, 302])('sends a batch again until it is taken: %d', async (status) => {
    const { url, requests } = await collector((number) => (number < 3 ? status : 200));
    const { sinks, clock, recorded } = openSinks([http(url)]);
    offer(sinks, 'a');
    await until(() => sinks.stats()[0]?.state === 'backoff');
    offer(sinks, 'b');
    clock.advance(1_000);
    await until(() => requests.length === 2 && sinks.stats()[0]?.state === 'backoff');
    clock.advance(2_000);
    await until(() => recorded.length === 2);
    expect(requests.map(({ body }) => body)).toEqual(['a\n', 'a\nb\n', 'a\nb\n']);
    expect(recorded).toEqual([
      {
        event: 'audit_sink',
        fields: {
          sink: 'http',
          state: 'down',
          dropped: 0,
          error:
            status === 302
              ? 'the collector cannot be reached (no answer)'
              : `the collector answered with ${status}`,
        },
      },
      { event: 'audit_sink', fields: { sink: 'http', state: 'up', dropped: 0 } },
    ]);
    expect(sinks.stats()).toEqual([
      { name: 'http', state: 'open', delivered: 2, dropped: 0, lag: 0 },
    ]);
  });

  it('times out for a slow collector, and logs no secret', async () => {
    const { url } = await collector(() => null);
    const sink = http(url, { timeout: 20, token_env: 'COLLECTOR_TOKEN' });
    const { sinks, recorded, logged } = openSinks([sink], { env: { COLLECTOR_TOKEN: 'canary' } });
    offer(sinks, 'a');
    await until(() => recorded.length === 1);
    expect(recorded).toEqual([
      {
        event: 'audit_sink',
        fields: {
          sink: 'http',
          state: 'down',
          dropped: 0,
          error: 'the collector cannot be reached (timed out)',
        },
      },
    ]);
    expect(JSON.stringify([recorded, logged, sinks.stats()])).not.toContain('canary');
  });
});

describe('several sinks', () => {
  it('do not delay each other, and closing waits at most two seconds', async () => {
    const directory = temporaryFolder();
    const { url } = await collector(() => null);
    const listener = await listenOn(join(directory, 'audit.sock'));
    const { sinks, clock } = openSinks(
      [http(url), http(`${url}/2`), { type: 'unix', path: 'audit.sock' }],
      { directory },
    );
    offer(sinks, 'a', 'b');
    await until(() => listener.received() === 'a\nb\n');
    await until(() => sinks.stats()[2]?.delivered === 2);
    expect(sinks.stats().map(({ name, delivered, lag }) => [name, delivered, lag])).toEqual([
      ['http', 0, 2],
      ['http-2', 0, 2],
      ['unix', 2, 0],
    ]);
    const closing = sinks.close();
    clock.advance(2_000);
    await closing;
    offer(sinks, 'c');
    expect(sinks.stats().map(({ state, lag }) => [state, lag])).toEqual([
      ['closed', 2],
      ['closed', 2],
      ['closed', 0],
    ]);
  });
});

describe('a listener that throws', () => {
  it('does not stop a sink when it receives the failure', async () => {
    const directory = temporaryFolder();
    const clock = new ManualClock(0);
    const nothing = (): void => undefined;
    const sinks = createAuditSinks({
      sinks: [{ type: 'unix', path: 'audit.sock' }],
      directory,
      env: {},
      clock,
      log: { info: nothing, warn: nothing, error: nothing },
      record: () => {
        throw new Error('the store is not open yet');
      },
    });
    onTestFinished(() => sinks.close());
    await until(() => sinks.stats()[0]?.state === 'backoff');
    offer(sinks, 'a');
    const listener = await listenOn(join(directory, 'audit.sock'));
    clock.advance(1_000);
    await until(() => listener.received() === 'a\n');
  });

  it('does not make a commit look failed', async () => {
    const { path, audit } = storeFiles(temporaryFolder());
    const onCommitted = (): void => {
      throw new Error('a defect');
    };
    const store = await SqliteStore.open({ path, audit: { ...audit, onCommitted } });
    onTestFinished(() => store.close());
    await store.record([anEvent('t-1')]);
    expect(store.isWritable()).toBe(true);
  });
});
