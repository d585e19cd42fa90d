import { createServer } from 'node:http';
import { connect } from 'node:net';
import Koa from 'koa';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/actors/system-clock.ts';
import { type StreamedEvents, streamEvents } from '../../../src/http/a2a/stream-events.ts';
import { Heartbeats } from '../../../src/http/heartbeats.ts';
import { EventReader } from '../../helpers/event-reader.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { someTraffic } from '../../helpers/some-traffic.ts';

/** Serves a stream of events, and tells when its source was let go. */
async function serve(streamed: Partial<StreamedEvents> & Pick<StreamedEvents, 'events'>) {
  const app = new Koa();
  app.silent = true;
  app.use(async (ctx) => {
    ctx.state['traffic'] = someTraffic();
    ctx.state['keepAlive'] = { comments: new Heartbeats(systemClock(), 4_000), blanks: null };
    await streamEvents(ctx, {
      tell: (error) => ({ told: (error as Error).message }),
      tellLost: () => null,
      ...streamed,
    });
  });
  const handle = app.callback();
  return listenOnLoopback(createServer((request, response) => void handle(request, response)));
}

async function read(url: string): Promise<EventReader> {
  return new EventReader(await fetch(url), new AbortController());
}

/** Yields as many events, and then fails if there is a fault. */
async function* counted(count: number, fault?: Error): AsyncGenerator<object, void, undefined> {
  for (let n = 1; n <= count; n += 1) yield { n };
  if (fault !== undefined) throw fault;
}

it('events are numbered and have no names', async () => {
  const reader = await read(await serve({ events: counted(2) }));
  expect(await reader.rest()).toEqual([
    { id: '1', event: undefined, data: { n: 1 } },
    { id: '2', event: undefined, data: { n: 2 } },
  ]);
});

it('a stream ends with a named error where the source fails', async () => {
  const reader = await read(await serve({ events: counted(2, new Error('gone')) }));
  expect((await reader.rest()).at(-1)).toEqual({ id: '3', event: 'error', data: { told: 'gone' } });
});

it('a stream ends with an error where the source was cut', async () => {
  const reader = await read(await serve({ events: counted(2), tellLost: () => ({ lost: true }) }));
  expect((await reader.rest()).at(-1)).toEqual({ id: '3', event: 'error', data: { lost: true } });
});

it('an error before the first event is a plain answer', async () => {
  const response = await fetch(await serve({ events: counted(0, new Error('none such')) }));
  expect([response.headers.get('content-type'), await response.json()]).toEqual([
    'application/json; charset=utf-8',
    { told: 'none such' },
  ]);
});

it('a reader that reads nothing is disconnected, and so is the source', async () => {
  const large = 'x'.repeat(300_000);
  let given = 0;
  const closed = Promise.withResolvers<void>();
  const events = (async function* (): AsyncGenerator<object, void, undefined> {
    try {
      for (; given < 1_000; given += 1) {
        yield { large };
        await new Promise(setImmediate);
      }
    } finally {
      closed.resolve();
    }
  })();
  const { hostname, port } = new URL(await serve({ events }));
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).pause();
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await closed.promise;
  socket.destroy();
  // What the kernel holds for both ends, and 1 MiB.
  expect(given * large.length).toBeLessThan(24_000_000);
});
