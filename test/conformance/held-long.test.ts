import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { Agent, fetch as undiciFetch } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { playing } from '../helpers/agent-client.ts';
import { paying, serveHolds } from '../helpers/held-surface.ts';
import { startProxy } from '../helpers/impatient-proxy.ts';
import { reached } from '../helpers/test-agent.ts';

/** Heartbeats of 25 seconds in ten minutes. */
const heartbeats = 24;
const heartbeat = 25_000;

const sending = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ id: 't1', message: playing(paying) }),
};

describe('a proxy that times out after a minute without a byte', () => {
  it('forwards a send that is held for ten minutes', async () => {
    const { client, clock, approve } = await serveHolds();
    const proxy = await startProxy(client.url, clock);
    const held = fetch(`${proxy.url}/tasks/send`, sending);
    await reached(client, 't1', 'deferred');
    for (let beat = 1; beat <= heartbeats; beat += 1) {
      clock.advance(heartbeat);
      await proxy.hasRead(beat);
    }
    const response = await held;
    await approve();
    expect([response.status, await response.json()]).toEqual([
      200,
      (await client.get('/tasks/t1')).body,
    ]);
  });

  it('answers 504 instead when the heartbeat is 0s', async () => {
    const { client, clock } = await serveHolds({ holdHeartbeat: 0 });
    const proxy = await startProxy(client.url, clock);
    const held = fetch(`${proxy.url}/tasks/send`, sending);
    await reached(client, 't1', 'deferred');
    clock.advance(60_000);
    expect((await held).status).toBe(504);
    expect((await client.get('/tasks/t1')).body.status.state).toBe('deferred');
  });
});

describe('the fetch of Node, which times out after five minutes without headers or a byte', () => {
  /** The clock of its timeouts, which it has tests move. */
  const { tick } = createRequire(import.meta.url)('undici/lib/util/timers.js') as {
    tick(milliseconds: number): void;
  };

  /** Sends with its usual timeouts. */
  function send(url: string) {
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.destroy());
    return undiciFetch(`${url}/tasks/send`, { ...sending, dispatcher });
  }

  it('reads the answer to a send that was held for ten minutes', async () => {
    const { client, clock, approve } = await serveHolds();
    const sent = send(client.url);
    await reached(client, 't1', 'deferred');
    clock.advance(heartbeat);
    tick(heartbeat);
    const response = await sent;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    const read = async (): Promise<boolean> => {
      const { value, done } = await reader.read();
      if (value !== undefined) text += Buffer.from(value).toString();
      return !done;
    };
    for (let beat = 2; beat <= heartbeats; beat += 1) {
      clock.advance(heartbeat);
      tick(heartbeat);
      await read();
    }
    expect(text).toBe(' '.repeat(heartbeats - 1));
    await approve();
    while (await read());
    expect(JSON.parse(text)).toEqual((await client.get('/tasks/t1')).body);
  });

  it('times out when the heartbeat is 0s', async () => {
    const { client, clock } = await serveHolds({ holdHeartbeat: 0 });
    const sent = send(client.url);
    await reached(client, 't1', 'deferred');
    clock.advance(301_000);
    // The first only has the timeout begin.
    tick(1_000);
    tick(301_000);
    await expect(sent).rejects.toMatchObject({ cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } });
  });
});

describe('an answer after blanks', () => {
  const answer = `${' '.repeat(heartbeats)}{"id":"t1","kind":"task"}`;

  it('is equal for JSON.parse and for the json of a response', async () => {
    const parsed = { id: 't1', kind: 'task' };
    expect([JSON.parse(answer), await new Response(answer).json()]).toEqual([parsed, parsed]);
  });

  it('is equal for the json of Python', () => {
    const program = 'import json, sys; print(json.load(sys.stdin)["id"])';
    expect(execFileSync('python3', ['-c', program], { input: answer }).toString()).toBe('t1\n');
  });
});
