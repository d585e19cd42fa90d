import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { INVALID_SPAN_CONTEXT, trace } from '@opentelemetry/api';
import Koa from 'koa';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/actors/clock.ts';
import { Heartbeats } from '../../../src/http/heartbeats.ts';
import { McpSessions } from '../../../src/http/mcp/mcp-sessions.ts';
import { readJson } from '../../../src/http/middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../../../src/http/request-state.ts';
import { Traffic, TrafficCount } from '../../../src/http/traffic.ts';
import { Problem } from '../../../src/http/wire/problem.ts';
import { patient } from '../../helpers/patient.ts';

const limits = { most: 3, mostOfShare: 2, longestRest: 60_000 };

/** Sessions of an agent whose calls are all held; the header `Address` says where a request comes from. */
async function held() {
  const clock = systemClock();
  const beats = new Heartbeats(clock, 60_000);
  const calls: string[] = [];
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const face = { agentId: 'till', version: '1', tools: () => [], onToolsChanged: () => undefined };
  const ports = { ids: { next: () => 'm1' }, log, beats, clock, onDisconnect: 'abandon' as const };
  const sessions = new McpSessions(face, ports, limits);
  const tasks = {
    open: ({ message }: { message: { messageId: string } }) => {
      calls.push(message.messageId);
      return 't1';
    },
    find: () => undefined,
    settled: (_: string, gone: AbortSignal) =>
      new Promise((_done, fail) => gone.addEventListener('abort', () => fail(gone.reason))),
    callerLeft: async () => undefined,
  };
  const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  const app = new Koa<RequestState>();
  app.use(async (ctx, next) => {
    const keepAlive = { comments: beats, blanks: null };
    const asking = { caller: null, clientAddress: ctx.get('Address') };
    const traffic = new Traffic(new TrafficCount(), asking);
    Object.assign(ctx.state, { ...asking, traffic, tasks, keepAlive, span });
    try {
      await next();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      ctx.status = error.status;
      ctx.body = error.body;
    }
  });
  app.use(readJson());
  app.use((ctx) => sessions.answer(ctx as unknown as RoutedContext));
  const server = createServer((request, response) => void app.callback()(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const post = (address: string, message: object, { session = '', signal = noSignal } = {}) =>
    fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST',
      signal,
      headers: {
        address,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session === '' ? {} : { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
  return { post, calls };
}

const noSignal = new AbortController().signal;

const greeting = {
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

const call = { id: 2, method: 'tools/call', params: { name: 'pay', arguments: {} } };
const list = { id: 3, method: 'tools/list' };

it('refuses a session while all of a caller, or all there are, have a call under way', async () => {
  const { post, calls } = await held();
  const greet = async (address: string) => {
    const answer = await post(address, greeting);
    const text = await answer.text();
    return answer.status === 200 ? (answer.headers.get('mcp-session-id') ?? '') : text;
  };
  const ends = new AbortController();
  const hold = async (address: string, session: string, signal = noSignal) => {
    const had = calls.length;
    void (await post(address, call, { session, signal })).text().catch(() => undefined);
    await vi.waitUntil(() => calls.length > had, patient);
  };
  const full = JSON.stringify({
    error: 'as many MCP sessions as there may be have a call under way; try again later',
  });
  const first = await greet('192.0.2.1');
  await hold('192.0.2.1', first, ends.signal);
  const second = await greet('192.0.2.1');
  // The one without a call makes room for the next.
  const third = await greet('192.0.2.1');
  expect((await post('192.0.2.1', list, { session: second })).status).toBe(404);
  await hold('192.0.2.1', third);
  expect(await greet('192.0.2.1')).toBe(full);
  const elsewhere = await greet('192.0.2.2');
  await hold('192.0.2.2', elsewhere);
  expect(await greet('192.0.2.3')).toBe(full);
  ends.abort();
  await vi.waitFor(async () => expect(await greet('192.0.2.3')).not.toBe(full), patient);
  expect((await post('192.0.2.1', list, { session: first })).status).toBe(404);
});
