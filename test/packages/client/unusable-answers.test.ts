import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { createGate, GateUnavailable } from '../../../packages/client/client.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';

const call = { tool: 'Bash', args: { command: 'ls' }, key: 'k' };
const token = 'secret-token';

/** Starts a server in the place of a gate. */
async function serve(listener: RequestListener): Promise<{ url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    listener(request, response);
  });
  return { url: await listenOnLoopback(server), seen };
}

/** Resolves with the error of a hold, which names neither the token nor what the server sent. */
async function failureAt(url: string): Promise<GateUnavailable> {
  const error: unknown = await createGate({ url, token, timeout: 0 })
    .hold(call)
    .then(
      (decision) => expect.fail(`the call may run: ${JSON.stringify(decision)}`),
      (reason: unknown) => reason,
    );
  expect(error).toBeInstanceOf(GateUnavailable);
  expect(String(error)).not.toContain(token);
  return error as GateUnavailable;
}

const digest = 'b'.repeat(64);
const approved = { hold_id: 'h-1', key: 'k', status: 'approved', args_sha256: digest };
const allowed = (args: string, more: object = {}) =>
  JSON.stringify({ ...approved, ...more }).replace(/}$/, `,"args":${args}}`);

describe('an answer that does not permit the call', () => {
  it.each([
    ['no JSON', '<html>', 'the answer of the gate is not JSON'],
    ['invalid UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'the gate cannot be reached'],
    ['an array', '[]', 'the answer of the gate is not an object'],
    ['null', 'null', 'the answer of the gate is not an object'],
    ['another key', allowed('{}', { key: 'x' }), 'the gate answered about another call'],
    [
      'a path as the id',
      allowed('{}', { hold_id: '../a' }),
      'the gate answered about another call',
    ],
    ['no status', allowed('{}', { status: 1 }), 'the answer of the gate has no known status'],
    [
      'an unknown status',
      allowed('{}', { status: 'ok' }),
      'the answer of the gate has no known status',
    ],
    ['a list of arguments', allowed('[]'), 'the answer of the gate has no args'],
    ['a string as the arguments', allowed('"ls"'), 'the answer of the gate has no args'],
    ['null as the arguments', allowed('null'), 'the answer of the gate has no args'],
    [
      'a prototype',
      allowed('{"__proto__":{"admin":true}}'),
      'the args of the answer are not plain JSON',
    ],
    [
      'a deep prototype',
      allowed('{"a":[{"__proto__":{}}]}'),
      'the args of the answer are not plain JSON',
    ],
    [
      'a constructor',
      allowed('{"constructor":{"prototype":{}}}'),
      'the args of the answer are not plain JSON',
    ],
    [
      'a rounded number',
      allowed('{"id":9007199254740993}'),
      'the args of the answer are not plain JSON',
    ],
    [
      'endless nesting',
      allowed(`{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}`),
      'the args of the answer are not plain JSON',
    ],
    [
      'other arguments than the digest',
      allowed('{"command":"ls"}'),
      'the args of the answer do not match args_sha256',
    ],
    [
      'a digest of another type',
      allowed('{}', { args_sha256: {} }),
      'the args of the answer do not match args_sha256',
    ],
    ['an endless answer', 'x'.repeat(5_000_000), 'the answer of the gate is too long'],
  ])('is %s', async (_, body, message) => {
    const { url } = await serve((_request, response) => response.end(body));
    expect((await failureAt(url)).message).toBe(message);
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });

  it.each([
    [204, ''],
    [400, '{"error":"bad"}'],
    [403, '{"error":"no"}'],
    [404, '{}'],
    [
      409,
      '{"error":"the key k belongs to a hold of another call; choose another key","code":"idempotency_key_reused"}',
    ],
    [500, 'oops'],
  ])('has the status %d', async (status, body) => {
    const { url, seen } = await serve((_request, response) => response.writeHead(status).end(body));
    expect((await failureAt(url)).status).toBe(status);
    expect(seen).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])(
    'is a redirect with %d, which is not followed',
    async (status) => {
      const elsewhere = await serve((_request, response) => response.end('{}'));
      const { url, seen } = await serve((request, response) => {
        const Location = request.url === '/holds' ? `${elsewhere.url}/holds` : '/holds';
        response.writeHead(status, { Location }).end();
      });
      expect(await failureAt(url)).toMatchObject({
        ...{ message: 'the gate redirects; use its final address as url', status },
      });
      expect([seen.length, elsewhere.seen.length]).toEqual([1, 0]);
    },
  );

  it('is missing: the gate is down', async () => {
    expect((await failureAt('http://127.0.0.1:1')).message).toBe('the gate cannot be reached');
  });
});

describe('an invalid setting', () => {
  it.each(['gate', 'ftp://gate', 'https://ann:secret@gate', ''])('is the address %s', (url) => {
    expect(() => createGate({ url })).toThrow(
      new TypeError('url must be an HTTP address without credentials, such as https://HOST'),
    );
  });

  it('is a token with a line break, which no error quotes', async () => {
    const gate = createGate({ url: 'http://127.0.0.1:1', token: 'abc\ndef' });
    const error: unknown = await gate.hold(call).catch((reason: unknown) => reason);
    expect(String(error)).toBe(
      'TypeError: the token has characters that a header cannot have; check where it is read',
    );
  });
});

describe('a temporary failure', () => {
  const decided = {
    ...approved,
    ...{
      args: {},
      args_sha256: '926184f28b5c6fd2654d8353ad8e005ab3a5246e3a8ce1d601295f414b6d79c0',
    },
  };

  /** Answers in their order; the requests are kept. */
  function answering(...answers: (() => Response)[]) {
    return vi.fn(async (_url: string, _init: RequestInit) => answers.shift()!());
  }
  const status =
    (code: number, headers = {}) =>
    () =>
      new Response('{"error":"busy"}', { status: code, headers });
  const approval = () => Response.json(decided);
  const reset = () => {
    throw new TypeError('fetch failed');
  };

  it('is retried with the same key, after increasing pauses', async () => {
    vi.useFakeTimers();
    const fetch = answering(reset, status(503), status(502), status(408), approval);
    const { key: _, ...unnamed } = call;
    const named = { ...unnamed, session: 's', callId: 'k' };
    const held = createGate({ url: 'http://gate.invalid', fetch }).hold({ ...named, key: 'k' });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await held).toMatchObject({ status: 'approved' });
    const keys = fetch.mock.calls.map(([, { body }]) => JSON.parse(body as string).key);
    expect(keys).toEqual(['k', 'k', 'k', 'k', 'k']);
  });

  it('keeps one random key for all attempts of a call', async () => {
    vi.useFakeTimers();
    const fetch = answering(reset, reset, status(403));
    const { key: _, ...unnamed } = call;
    const held = createGate({ url: 'http://gate.invalid', fetch })
      .hold(unnamed)
      .catch(() => null);
    await vi.advanceTimersByTimeAsync(5_000);
    await held;
    const keys = fetch.mock.calls.map(([, { body }]) => JSON.parse(body as string).key);
    expect([new Set(keys).size, keys.length]).toEqual([1, 3]);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('of 429 is retried after Retry-After and not before', async () => {
    vi.useFakeTimers();
    const fetch = answering(status(429, { 'Retry-After': '60' }), approval);
    const held = createGate({ url: 'http://gate.invalid', fetch }).hold(call);
    await vi.advanceTimersByTimeAsync(59_999);
    expect(fetch).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(6_001);
    expect(await held).toMatchObject({ status: 'approved' });
  });

  it("with a longer pause than the caller's timeout is thrown at once", async () => {
    const fetch = answering(status(429, { 'Retry-After': '3600' }));
    const held = createGate({ url: 'http://gate.invalid', fetch }).hold(call);
    await expect(held).rejects.toMatchObject({
      ...{ name: 'GateUnavailable', status: 429, message: 'the gate answered 429: busy' },
    });
  });

  it('of a gate that never answers is thrown in time, although each request hangs', async () => {
    vi.useFakeTimers();
    const fetch = vi.fn((_url: string, { signal }: RequestInit) => {
      const hanging = Promise.withResolvers<Response>();
      signal?.addEventListener('abort', () => hanging.reject(signal.reason));
      return hanging.promise;
    });
    const held = createGate({ url: 'http://gate.invalid', fetch, timeout: 30_000 })
      .hold(call)
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(45_000);
    expect(await held).toMatchObject({ message: 'the gate did not answer in time', status: null });
    expect(fetch.mock.calls.length).toBeGreaterThan(1);
  });

  it('is thrown at the signal during a pause', async () => {
    const leaving = new AbortController();
    const fetch = answering(() => {
      queueMicrotask(() => setImmediate(() => leaving.abort('left')));
      return status(503, { 'Retry-After': '60' })();
    });
    const gate = createGate({ url: 'http://gate.invalid', fetch });
    await expect(gate.hold({ ...call, signal: leaving.signal })).rejects.toBe('left');
  });

  it('sends the wait, and polls a gate without waiting only every two seconds', async () => {
    vi.useFakeTimers();
    const pending = { ...approved, status: 'pending', retry_after: 2 };
    const wait = () => Response.json(pending, { status: 202 });
    const fetch = answering(wait, wait, wait, approval);
    const held = createGate({ url: 'http://gate.invalid/base', token, fetch }).hold(call);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(fetch).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(2_001);
    expect(await held).toMatchObject({ status: 'approved' });
    const { claim } = JSON.parse(String(fetch.mock.calls[0]?.[1].body)) as { claim: string };
    const sent = fetch.mock.calls.map(([url, { method, headers, redirect }]) => [
      ...[method, url.replace(claim, 'CLAIM'), (headers as Headers).get('Prefer'), redirect],
    ]);
    expect(sent).toEqual([
      ['POST', 'http://gate.invalid/base/holds', null, 'manual'],
      ['GET', 'http://gate.invalid/base/holds/h-1?claim=CLAIM', 'wait=30', 'manual'],
      ['GET', 'http://gate.invalid/base/holds/h-1?claim=CLAIM', 'wait=30', 'manual'],
      ['GET', 'http://gate.invalid/base/holds/h-1?claim=CLAIM', 'wait=30', 'manual'],
    ]);
  });
});
