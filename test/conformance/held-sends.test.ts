import type { Server } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import { paying, serveHolds } from '../helpers/held-surface.ts';
import { RawConnection } from '../helpers/raw-connection.ts';
import { reached } from '../helpers/test-agent.ts';
import { nine } from '../helpers/test-system.ts';

const tenMinutes = 600_000;

/** Sends a task on a connection of its own, and reads what comes back byte by byte. */
function sendRaw(url: string, script: object[], how?: Parameters<RawConnection['post']>[2]) {
  const connection = new RawConnection(url);
  connection.post('/tasks/send', { task: { id: 't1', message: playing(script) } }, how);
  return connection;
}

/** Takes an answer apart: its first line, its headers, and what its chunks hold. */
function readRaw(text: string) {
  const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s);
  const [status, ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(/: (.*)/s).slice(0, 2)),
  ) as Record<string, string>;
  const chunks = [...body.matchAll(/([0-9a-f]+)\r\n(.*?)\r\n(?=[0-9a-f]+\r\n|$)/gs)];
  return { status, headers, chunks: chunks.map(([, , chunk = '']) => chunk), body };
}

vi.setConfig({ testTimeout: 20_000 });

describe('a held send', () => {
  it('sends nothing before one heartbeat of its wait, then 200, then a blank at each heartbeat', async () => {
    const { client, clock, approve, waitFor } = await serveHolds();
    const caller = sendRaw(client.url, paying, { headers: 'X-Correlation-ID: mine\r\n' });
    await waitFor(24_999);
    expect(caller.text).toBe('');
    clock.advance(1);
    const { status, headers, body } = readRaw(await caller.until(/\r\n\r\n/));
    expect(status).toBe('HTTP/1.1 200 OK');
    const { Date: _, ...kept } = headers;
    expect(kept).toEqual({
      'X-Correlation-ID': 'mine',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      'Content-Type': 'application/json; charset=utf-8',
      'X-Accel-Buffering': 'no',
      Connection: 'keep-alive',
      'Keep-Alive': 'timeout=5',
      'Transfer-Encoding': 'chunked',
    });
    expect(body).toBe('');
    for (let blanks = 1; blanks <= 3; blanks += 1) {
      clock.advance(25_000);
      await caller.until(new RegExp(`\\r\\n\\r\\n(1\\r\\n \\r\\n){${blanks}}$`));
    }
    expect((await approve()).status).toBe(200);
    const { chunks } = readRaw(await caller.until(/\r\n0\r\n\r\n$/));
    expect(chunks.slice(0, 3)).toEqual([' ', ' ', ' ']);
    expect(JSON.parse(chunks.join(''))).toEqual((await client.get('/tasks/t1')).body);
  });

  it('continues with blanks for ten minutes, and is one JSON text for every parser', async () => {
    const { client, approve, waitFor } = await serveHolds();
    const held = client.open('POST', '/tasks/send', {
      body: { id: 't1', message: playing(paying) },
    });
    await waitFor(tenMinutes);
    const response = await held;
    await approve();
    const text = await response.text();
    expect(text).toMatch(/^ {23}\{"id":"t1".*\}$/s);
    expect(JSON.parse(text).status.state).toBe('completed');
  });

  it('is answered normally while its task has waited for less', async () => {
    const { client, approve, waitFor } = await serveHolds();
    const held = client.send('t1', [{ tool: 'pay' }, { tool: 'vault' }]);
    await waitFor(24_999);
    await approve();
    const { status, headers, body } = await held;
    expect([status, body.error]).toEqual([401, 'step_up_required']);
    expect(headers.get('www-authenticate')).toMatch('acr_values="gold"');
    expect(headers.get('content-length')).not.toBeNull();
  });

  it('counts the waits of its task together, and no other time', async () => {
    const gate = Promise.withResolvers<string>();
    const { client, clock, approve, waitFor } = await serveHolds({
      tools: { work: () => gate.promise },
    });
    const caller = sendRaw(client.url, [{ tool: 'pay' }, { tool: 'work' }, ...paying]);
    await waitFor(20_000);
    await approve();
    await reached(client, 't1', 'working');
    clock.advance(tenMinutes);
    gate.resolve('');
    await waitFor(4_999);
    expect(caller.text).toBe('');
    // What waits is looked at 25 times a heartbeat.
    clock.advance(1_000);
    expect(readRaw(await caller.until(/\r\n\r\n/)).status).toBe('HTTP/1.1 200 OK');
  });

  it('continues with blanks while its task works again', async () => {
    const gate = Promise.withResolvers<string>();
    const { client, clock, approve, waitFor } = await serveHolds({
      tools: { work: () => gate.promise },
    });
    const caller = sendRaw(client.url, [{ tool: 'pay' }, { tool: 'work' }, { say: 'done' }]);
    await waitFor(25_000);
    await caller.until(/\r\n\r\n/);
    await approve();
    await reached(client, 't1', 'working');
    clock.advance(25_000);
    await caller.until(/\r\n\r\n1\r\n \r\n$/);
    gate.resolve('');
    await caller.until(/\r\n0\r\n\r\n$/);
    expect(JSON.parse(readRaw(caller.text).chunks.join('')).status.state).toBe('completed');
  });

  it('without a wait gets no blank', async () => {
    const gate = Promise.withResolvers<string>();
    const { client, clock } = await serveHolds({ tools: { work: () => gate.promise } });
    const before = clock.pending;
    const caller = sendRaw(client.url, [{ tool: 'work' }, { tool: 'vault' }]);
    await reached(client, 't1', 'working');
    clock.advance(tenMinutes);
    expect([caller.text, clock.pending]).toEqual(['', before]);
    gate.resolve('');
    await caller.until(/^HTTP\/1.1 401 /);
  });

  it('sends nothing before its task is final when the heartbeat is 0s', async () => {
    const { client, clock, approve, waitFor } = await serveHolds({ holdHeartbeat: 0 });
    const caller = sendRaw(client.url, [{ tool: 'pay' }, { tool: 'vault' }]);
    await waitFor(tenMinutes);
    expect(caller.text).toBe('');
    await approve();
    await caller.until(/^HTTP\/1.1 401 /);
    expect(clock.now()).toBe(nine + tenMinutes);
  });
});

describe('a held send after its 200', () => {
  it('ends in a failed task when a step-up is needed', async () => {
    const { client, approve, waitFor } = await serveHolds();
    const held = client.open('POST', '/tasks/send', {
      body: { id: 't1', message: playing([{ tool: 'pay' }, { tool: 'vault' }]) },
    });
    await waitFor(25_000);
    const response = await held;
    await approve();
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([200, null]);
    expect(await response.json()).toMatchObject({
      id: 't1',
      status: { state: 'failed' },
      metadata: { step_up: { tool: 'vault', required_acr: 'gold' } },
    });
  });

  it('keeps the error of a step-up over JSON-RPC, which needs no status', async () => {
    const { client, approve, waitFor } = await serveHolds();
    const message = playing([{ tool: 'pay' }, { tool: 'vault' }]);
    const params = { id: 't1', message };
    const held = client.open('POST', '/', {
      body: { jsonrpc: '2.0', id: 7, method: 'tasks/send', params },
    });
    await waitFor(50_000);
    const response = await held;
    await approve();
    const text = await response.text();
    expect(text).toMatch(/^ \{/);
    expect(JSON.parse(text)).toMatchObject({
      jsonrpc: '2.0',
      id: 7,
      error: { code: -32040, message: 'step_up_required', data: { tool: 'vault' } },
    });
  });

  it('has its connection cut by a shutdown, and its task can still be read', async () => {
    const { client, system, waitFor, log } = await serveHolds();
    const caller = sendRaw(client.url, paying);
    await waitFor(50_000);
    await caller.until(/\r\n\r\n1\r\n \r\n$/);
    await system.drain(0);
    await caller.closed;
    expect(readRaw(caller.text).chunks).toEqual([' ']);
    expect((await client.get('/tasks/t1')).body.status.state).toBe('deferred');
    expect(log).toEqual([]);
  });

  it('blocks a second answer on its connection until it has ended', async () => {
    const { client, clock, approve, waitFor } = await serveHolds();
    const caller = sendRaw(client.url, paying);
    await waitFor(25_000);
    caller.post('/tasks/send', { id: 't2', message: playing([{ say: 'second' }]) });
    await reached(client, 't2', 'completed');
    clock.advance(25_000);
    await caller.until(/\r\n\r\n1\r\n \r\n$/);
    await approve();
    const text = await caller.until(/second.*\r\n\r\n$|second.*\}$/s);
    expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
    expect(text.indexOf('HTTP/1.1', 1)).toBeGreaterThan(text.indexOf('paid'));
  });
});

describe('a second held send on one connection', () => {
  it('waits without a byte in memory, and then gets its blanks', async () => {
    const { client, pass, waitFor } = await serveHolds();
    const caller = sendRaw(client.url, paying);
    await reached(client, 't1', 'deferred');
    caller.post('/tasks/send', { id: 't2', message: playing(paying) });
    await reached(client, 't2', 'deferred');
    await waitFor(tenMinutes);
    await caller.until(/\r\n\r\n(1\r\n \r\n){23}$/);
    await client.decide('t1', { decision: 'approve' });
    const first = await caller.until(/\r\n0\r\n\r\n$/);
    await pass(50_000);
    const both = await caller.until(/\r\n0\r\n\r\n.*1\r\n \r\n$/s);
    expect(both.slice(first.length)).toMatch(/^HTTP\/1.1 200 OK\r\n.*\r\n\r\n1\r\n \r\n$/s);
  });
});

describe('a caller of a held send', () => {
  it.each([
    ['before it is answered', 1_000, /^$/],
    ['after its head was sent', 25_000, /\r\n\r\n$/],
    ['after a blank', 50_000, /\r\n\r\n1\r\n \r\n$/],
  ])('that disconnects %s leaves the task running and no timer', async (_, after, seen) => {
    const { client, clock, approve, waitFor, log, server } = await serveHolds();
    const caller = sendRaw(client.url, paying);
    await waitFor(after);
    await caller.until(seen);
    caller.socket.resetAndDestroy();
    await expect.poll(() => connectionsOf(server)).toBe(1);
    clock.advance(tenMinutes);
    await approve();
    expect((await reached(client, 't1', 'completed')).status.state).toBe('completed');
    expect(log).toEqual([]);
  });

  it('that half-closes the connection leaves the task running too', async () => {
    const { client, approve, waitFor, log } = await serveHolds();
    const caller = sendRaw(client.url, paying);
    await waitFor(25_000);
    await caller.until(/\r\n\r\n$/);
    caller.socket.end();
    await caller.closed;
    await approve();
    await reached(client, 't1', 'completed');
    expect(log).toEqual([]);
  });

  it('with HTTP/1.0 gets no chunks, and the end of the connection is the end', async () => {
    const { client, approve, waitFor } = await serveHolds();
    const caller = sendRaw(client.url, paying, { version: '1.0' });
    await waitFor(75_000);
    await caller.until(/\r\n\r\n {2}$/);
    await approve();
    await caller.closed;
    const { status, headers, body } = readRaw(caller.text);
    expect([status, headers['Transfer-Encoding'], headers['Connection']]).toEqual([
      'HTTP/1.1 200 OK',
      undefined,
      'close',
    ]);
    expect(body).toMatch(/^ {2}\{/);
    expect(JSON.parse(body).id).toBe('t1');
  });

  it.each([
    ['requests Connection: close', 'Connection: close\r\n'],
    ['expects 100 Continue', 'Expect: 100-continue\r\n'],
  ])('that %s gets blanks as well', async (_, headers) => {
    const { client, approve, waitFor } = await serveHolds();
    const caller = sendRaw(client.url, paying, { headers });
    await waitFor(50_000);
    await caller.until(/\r\n\r\n1\r\n \r\n$/);
    await approve();
    await caller.until(/\r\n0\r\n\r\n$/);
    expect(caller.text).toContain('paid');
  });

  it('that requests the same task again learns that it is still running', async () => {
    const { client, approve, waitFor } = await serveHolds();
    const caller = sendRaw(client.url, paying);
    await waitFor(25_000);
    await caller.until(/\r\n\r\n$/);
    expect((await client.send('t1', paying)).status).toBe(409);
    await approve();
    await caller.until(/\r\n0\r\n\r\n$/);
  });
});

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}
