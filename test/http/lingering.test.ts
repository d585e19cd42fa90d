import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import Koa from 'koa';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LingeringLimits } from '../../src/http/lingering.ts';
import { listen } from '../../src/http/listen.ts';
import { handleErrors } from '../../src/http/middleware/handle-errors.ts';
import { readJson } from '../../src/http/middleware/read-json.ts';
import type { RequestState } from '../../src/http/request-state.ts';
import { type ErrorCode, errorCodes } from '../../src/http/wire/error-codes.ts';
import { Problem } from '../../src/http/wire/problem.ts';
import { someTraffic } from '../helpers/some-traffic.ts';

const ignore = () => undefined;
const mebibyte = 1024 * 1024;
const json = 'Content-Type: application/json';

function head(...lines: string[]): string {
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Serves routes that refuse before the body is read, and one that reads it. Returns the URL. */
async function serve(lingering: Partial<LingeringLimits> = {}) {
  const app = new Koa<RequestState>();
  const served: string[] = [];
  app.use(handleErrors({ log: { info: ignore, warn: ignore, error: ignore } }));
  app.use((ctx, next) => {
    served.push(ctx.path);
    ctx.state.traffic = someTraffic();
    const codes = Object.keys(errorCodes) as ErrorCode[];
    const code = codes.find((one) => ctx.path === `/${errorCodes[one][0]}`);
    if (code !== undefined) throw new Problem(code, 'refused');
    return next();
  });
  app.use(readJson());
  app.use((ctx) => {
    ctx.body = { read: JSON.stringify(ctx.request.body ?? null).length };
  });
  const ids = { next: () => 'made-up' };
  const server = await listen(app, { host: '127.0.0.1', port: 0, isFixed: true, ids, lingering });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, served, server };
}

const program = `
  const [url, bytes, count, type, isChunked] = process.argv.slice(1);
  const read = [];
  for (let sent = 0; sent < Number(count); sent += 1) {
    const whole = 'x'.repeat(Number(bytes));
    const body = isChunked === 'true' ? new Blob([whole]).stream() : whole;
    const init = { method: 'POST', body, headers: { 'content-type': type }, duplex: 'half' };
    try {
      const answer = await fetch(url, init);
      read.push(answer.status, typeof (await answer.json()));
    } catch (error) {
      read.push(error.cause?.code ?? error.message, null);
    }
  }
  console.log(JSON.stringify(read));`;

interface Sending {
  bytes: number;
  count: number;
  type?: string;
  isChunked?: boolean;
}

/**
 * Sends bodies one after the other from another process, and returns what the client reads: in this process no client
 * writes while the server closes.
 */
async function statusesOf(
  url: string,
  { bytes, count, type = 'application/json', isChunked = false }: Sending,
): Promise<unknown> {
  const options = ['--input-type=module', '-e', program, '--'];
  const given = [url, bytes, count, type, isChunked].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, [...options, ...given]);
  return JSON.parse(stdout) as unknown;
}

/** Returns what a fetch that reads every answer returns. */
function each(status: number, count: number): unknown[] {
  return Array.from({ length: count }, () => [status, 'object']).flat();
}

describe('a client that still sends', () => {
  it.each([
    [3, 20],
    [30, 10],
  ])('reads the 413 of a body of %d MiB, %d times', async (size, count) => {
    const { url } = await serve();
    expect(await statusesOf(url, { bytes: size * mebibyte, count })).toEqual(each(413, count));
  });

  it.each([401, 403, 404, 429, 503])('reads the %d of a body of 3 MiB', async (status) => {
    const { url } = await serve();
    expect(await statusesOf(`${url}/${status}`, { bytes: 3 * mebibyte, count: 8 })).toEqual(
      each(status, 8),
    );
  });

  it('reads the 415 of a body of 3 MiB', async () => {
    const { url } = await serve();
    expect(await statusesOf(url, { bytes: 3 * mebibyte, count: 8, type: 'text/plain' })).toEqual(
      each(415, 8),
    );
  });

  it('reads the 413 of a chunked body', async () => {
    const { url } = await serve();
    const sending = { bytes: 5 * mebibyte, count: 8, isChunked: true };
    expect(await statusesOf(url, sending)).toEqual(each(413, 8));
  });

  it('reads the 413 after it has sent the whole body', async () => {
    const { port, served } = await serve();
    const length = 5 * mebibyte;
    const next = head('GET /next HTTP/1.1', 'Host: a');
    const request = head('POST / HTTP/1.1', 'Host: a', json, `Content-Length: ${length}`);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    await new Promise((sent) => socket.write(`${request}${'x'.repeat(length)}${next}`, sent));
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    await once(socket, 'end');
    socket.end();
    expect(text.match(/HTTP\/1\.1 \d+|Connection: \w+/g)).toEqual([
      'HTTP/1.1 413',
      'Connection: close',
    ]);
    // The request behind the refused body is not served.
    expect(served).toEqual(['/']);
  });
});

describe('a connection', () => {
  it('of a refused tunnel ends with all connections of its server', async () => {
    const { port, server } = await serve();
    const socket = connect(port, '127.0.0.1');
    socket.write(head('CONNECT a:1 HTTP/1.1', 'Host: a'));
    await once(socket, 'data');
    const closed = once(socket.on('error', ignore), 'close');
    server.closeAllConnections();
    await closed;
    const left = await promisify(server.getConnections.bind(server))();
    expect(left).toBe(0);
  });

  it('is reused after a long body that was read, and after a short one that was refused', async () => {
    const { port, served } = await serve();
    const body = JSON.stringify('x'.repeat(mebibyte));
    const post = (path: string, sent: string) =>
      `${head(`POST ${path} HTTP/1.1`, 'Host: a', json, `Content-Length: ${sent.length}`)}${sent}`;
    const last = head('GET /last HTTP/1.1', 'Host: a', 'Connection: close');
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    socket.write(post('/long', body) + post('/401', '{"a":1}') + last);
    await once(socket, 'close');
    expect(text.match(/HTTP\/1\.1 \d+|Connection: [\w-]+/g)).toEqual([
      ...['HTTP/1.1 200', 'Connection: keep-alive'],
      ...['HTTP/1.1 401', 'Connection: keep-alive'],
      ...['HTTP/1.1 200', 'Connection: close'],
    ]);
    expect(served).toEqual(['/long', '/401', '/last']);
  });

  /** Sends until the connection closes, and returns the bytes that the server accepted. */
  async function pour(port: number, request: string, chunk: string): Promise<[string, number]> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const push = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('error', () => undefined).on('drain', push);
    socket.write(request);
    push();
    await closed;
    return [text.slice(0, 12), socket.bytesWritten];
  }

  it.each([
    ['a long body', `Content-Length: ${2 ** 40}`],
    ['endless chunks', 'Transfer-Encoding: chunked'],
  ])('is cut after its share of bytes: %s', async (_, length) => {
    const { port } = await serve({ bytes: 4 * mebibyte });
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    for (const path of ['/', '/401']) {
      const request = head(`POST ${path} HTTP/1.1`, 'Host: a', json, length);
      const [answer, written] = await pour(port, request, chunk);
      expect(answer).toMatch(/^HTTP\/1\.1 4/);
      // The kernel buffers some MiB on both sides.
      expect(written).toBeLessThan(24 * mebibyte);
    }
  });

  it('is cut when its client sends nothing more, or sends for too long', async () => {
    const slow = await serve({ silence: 50 });
    const long = await serve({ time: 50, silence: 60_000 });
    for (const { port, server } of [slow, long]) {
      const request = head('POST /401 HTTP/1.1', 'Host: a', json, `Content-Length: ${mebibyte}`);
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      const closed = new Promise<void>((resolve) => {
        server.once('connection', (one) => one.once('close', () => resolve()));
      });
      socket.on('error', () => undefined).resume();
      socket.write(request);
      await closed;
      socket.destroy();
    }
  });

  it('is cut at once while too many others are read', async () => {
    const { port, server } = await serve({ connections: 0 });
    const request = head('POST /401 HTTP/1.1', 'Host: a', json, `Content-Length: ${mebibyte}`);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const closed = new Promise<void>((resolve) => {
      server.once('connection', (one) => one.once('close', () => resolve()));
    });
    socket.on('error', () => undefined).resume();
    socket.write(request);
    await closed;
    socket.destroy();
  });
});

describe('Expect: 100-continue', () => {
  async function answerTo(port: number, path: string, length: number): Promise<string[]> {
    const expecting = ['Expect: 100-continue', `Content-Length: ${length}`];
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (piece.startsWith('HTTP/1.1 100')) socket.write(JSON.stringify('x'.repeat(length - 2)));
      if (piece.includes('keep-alive')) socket.end();
    });
    socket.write(head(`POST ${path} HTTP/1.1`, 'Host: a', json, ...expecting));
    await once(socket, 'close');
    return text.match(/HTTP\/1\.1 \d+|Connection: [\w-]+/g) ?? [];
  }

  it('is answered with 100 for a body that is read', async () => {
    const { port } = await serve();
    expect(await answerTo(port, '/', 100)).toEqual([
      ...['HTTP/1.1 100', 'HTTP/1.1 200', 'Connection: keep-alive'],
    ]);
  });

  it.each([
    ['/', 3 * mebibyte, 413],
    ['/401', 100, 401],
    ['/429', 3 * mebibyte, 429],
  ])('is not answered with 100 when %s refuses %d bytes with %d', async (path, length, status) => {
    const { port } = await serve();
    expect(await answerTo(port, path, length)).toEqual([`HTTP/1.1 ${status}`, 'Connection: close']);
  });
});
