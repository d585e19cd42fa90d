import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  type Egress,
  EgressLimitError,
  egressCause,
  patientLimits,
} from '../../../../src/actors/outbound/egress/egress.ts';
import { aServer } from './a-server.ts';
import { anEgress, failureOf, scope } from './an-egress.ts';

const mebibyte = 1024 * 1024;

/** Reads an answer as a task's tool, and counts what came before it failed. */
async function readAll(egress: Egress, url: string): Promise<{ bytes: number; failure: unknown }> {
  let bytes = 0;
  try {
    const response = await egress.within(scope, () => egress.fetch(url));
    const body: AsyncIterable<Uint8Array> = response.body ?? (async function* () {})();
    for await (const chunk of body) bytes += chunk.length;
    return { bytes, failure: null };
  } catch (error) {
    return { bytes, failure: egressCause(error) ?? error };
  }
}

describe('the limits of a task', () => {
  it.each(['gzip', 'br', 'deflate'])(
    'permit an empty body that claims to be %s',
    async (coding) => {
      const { port } = await aServer((_request, response) => {
        response.writeHead(202, { 'content-encoding': coding, 'content-length': '0' }).end();
      });
      const { egress } = anEgress();
      const answer = await egress.within(scope, async () => {
        const response = await egress.fetch(`http://a.example.test:${port}/`, { method: 'POST' });
        return [response.status, await response.text()];
      });
      expect(answer).toEqual([202, '']);
    },
  );

  it('cut an endless answer at 10 MiB', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const { port } = await aServer((_request, response) => {
      const write = () => {
        while (!response.destroyed && sent < 1024 * mebibyte) {
          sent += chunk.length;
          if (!response.write(chunk)) return;
        }
        response.end();
      };
      response.on('drain', write);
      write();
    });
    const { egress } = anEgress();
    const { bytes, failure } = await readAll(egress, `http://a.example.test:${port}/`);
    expect(failure).toBeInstanceOf(EgressLimitError);
    expect(failure).toMatchObject({
      code: 'egress_limit',
      message: 'egress stopped: a.example.test answered more than 10485760 bytes',
    });
    expect(bytes).toBeLessThanOrEqual(10 * mebibyte);
    expect(sent).toBeLessThan(64 * mebibyte);
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['zstd', zstdCompressSync],
    ['gzip, br', (bytes: Buffer) => brotliCompressSync(gzipSync(bytes))],
  ])('count the unpacked size of %s', async (encoding, compress) => {
    const bomb = compress(Buffer.alloc(16 * mebibyte));
    const { port } = await aServer(({ url }, response) => {
      response.writeHead(url === '/error' ? 500 : 200, { 'content-encoding': encoding });
      response.end(bomb);
    });
    const { egress } = anEgress();
    for (const path of ['', 'error']) {
      const { bytes, failure } = await readAll(egress, `http://a.example.test:${port}/${path}`);
      expect(failure).toMatchObject({
        code: 'egress_limit',
        message: 'egress stopped: a.example.test answered more than 10485760 bytes',
      });
      expect(bytes).toBeLessThanOrEqual(10 * mebibyte);
    }
    const { dispatcher } = egress;
    const { body } = await egress.within(scope, () =>
      request(`http://a.example.test:${port}/`, { dispatcher }),
    );
    expect(await failureOf(body.text())).toMatchObject({ code: 'egress_limit' });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('permit a short answer in %s for any caller', async (encoding, compress) => {
    const { port } = await aServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding, 'x-kept': 'yes' });
      response.end(compress(Buffer.from('hello'.repeat(1_000))));
    });
    const { egress } = anEgress();
    const url = `http://a.example.test:${port}/`;
    const { dispatcher } = egress;
    const ask = async () => {
      const response = await egress.fetch(url);
      const { headers, body } = await request(url, { dispatcher });
      return [
        response.headers.get('x-kept'),
        await response.text(),
        headers['x-kept'],
        body,
      ] as const;
    };
    const hello = 'hello'.repeat(1_000);
    const [kept, fetched, keptToo, body] = await egress.within(scope, ask);
    expect([kept, fetched, keptToo, await body.text()]).toEqual(['yes', hello, 'yes', hello]);
    const [, outside] = await ask();
    expect(outside).toBe(hello);
  });

  it('permit a HEAD that announces a long answer', async () => {
    const { port } = await aServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': '99999999' }).end();
    });
    const { egress } = anEgress();
    const response = await egress.within(scope, () =>
      egress.fetch(`http://a.example.test:${port}/`, { method: 'HEAD' }),
    );
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it.each([
    ['total', { total: 100 }, 'did not answer completely in 100 ms'],
    ['idle', { idle: 100 }, 'sent nothing for 100 ms'],
  ])('abort a slow answer by its %s time', async (kind, limits, why) => {
    const { port } = await aServer((_request, response) => {
      response.write('a');
      if (kind === 'idle') return;
      const drip = setInterval(() => response.write('a'), 10);
      response.on('close', () => clearInterval(drip));
    });
    const { egress } = anEgress({ limits });
    const { bytes, failure } = await readAll(egress, `http://a.example.test:${port}/`);
    expect(failure).toMatchObject({
      code: 'egress_limit',
      message: `egress stopped: a.example.test ${why}`,
    });
    expect(bytes).toBeGreaterThan(0);
  });

  it('abort a slow answer of a plain request, too', async () => {
    const { port } = await aServer((_request, response) => {
      const drip = setInterval(() => response.write('a'), 10);
      response.on('close', () => clearInterval(drip));
    });
    const { egress } = anEgress({ limits: { total: 100 } });
    const { dispatcher } = egress;
    const { body } = await egress.within(scope, () =>
      request(`http://a.example.test:${port}/`, { dispatcher }),
    );
    expect(await failureOf(body.text())).toMatchObject({
      code: 'egress_limit',
      message: 'egress stopped: a.example.test did not answer completely in 100 ms',
    });
  });

  it.each([
    [true, 'hello'],
    [false, 'egress stopped: a.example.test answered more than 4 bytes'],
    [undefined, 'egress stopped: a.example.test answered more than 4 bytes'],
  ])('hold for a scope whose isOwn is %s: %s', async (isOwn, expected) => {
    const { port } = await aServer();
    const { egress } = anEgress({ limits: { bytes: 4 } });
    const on = isOwn === undefined ? scope : { ...scope, isOwn };
    const { dispatcher } = egress;
    const { body } = await egress.within(on, () =>
      request(`http://a.example.test:${port}/`, { dispatcher }),
    );
    expect(await body.text().catch((error: unknown) => egressCause(error)?.message)).toBe(expected);
  });

  it('abort an answer without headers', async () => {
    const { port } = await aServer(() => undefined);
    const { egress } = anEgress({ limits: { headers: 50 } });
    const { failure } = await readAll(egress, `http://a.example.test:${port}/`);
    expect(failure).toMatchObject({
      message: 'egress stopped: a.example.test sent no headers in 50 ms',
    });
  });

  it('count all hops of a request together', async () => {
    const { port } = await aServer((_request, response) => {
      setTimeout(() => response.writeHead(307, { location: '/' }).end(), 40);
    });
    const { egress } = anEgress({ limits: { total: 100 } });
    const { failure } = await readAll(egress, `http://a.example.test:${port}/`);
    expect(failure).toMatchObject({
      message: 'egress stopped: a.example.test did not answer completely in 100 ms',
    });
  });

  it('include the name look-up, after which nothing is sent', async () => {
    const { port, seen } = await aServer();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { egress } = anEgress({
      limits: { total: 1_000 },
      lookup: async () => {
        vi.advanceTimersByTime(1_000);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    expect(await readAll(egress, `http://a.example.test:${port}/`)).toMatchObject({
      bytes: 0,
      failure: { message: 'egress stopped: a.example.test did not answer completely in 1000 ms' },
    });
    // The request of the name look-up comes before the later ones.
    await egress.fetch(`http://a.example.test:${port}/later`);
    expect(seen.map(({ url }) => url)).toEqual(['/later']);
  });

  it('are replaced by those of the caller, and do not apply outside a scope', async () => {
    const long = 'x'.repeat(100);
    const { promise: impatientEnded, resolve: goOn } = Promise.withResolvers<void>();
    const { port } = await aServer(({ url }, response) => {
      if (url === '/body') response.write(long);
      void impatientEnded.then(() => response.end(url === '/body' ? long : long + long));
    });
    const { egress } = anEgress({ limits: { headers: 20, idle: 20, bytes: 50, total: 30 } });
    const url = `http://a.example.test:${port}/body`;
    const late = `http://a.example.test:${port}/headers`;
    const { dispatcher } = egress;
    const impatient = { ...patientLimits, headers: 20, idle: 20 };
    const own = { dispatcher, headersTimeout: 5_000, bodyTimeout: 5_000 };
    const asks = [
      () => egress.fetch(url),
      () => egress.within(scope, () => egress.fetch(url), patientLimits),
      () => egress.within(scope, () => request(url, own), impatient),
      () => egress.within(scope, () => request(late, own), impatient),
      () => egress.within(scope, () => request(url, { dispatcher }), impatient),
      () => egress.within(scope, () => request(late, { dispatcher }), impatient),
    ];
    const answers = asks.map(async (ask) => textOf(await ask()));
    // The server continues after no caller without its own time limit is left, well after every limit of a task.
    void Promise.allSettled(answers.slice(4)).then(() => goOn());
    const texts = await Promise.allSettled(answers);
    const whole = { status: 'fulfilled', value: long + long };
    const stopped = {
      status: 'rejected',
      reason: expect.objectContaining({ code: 'egress_limit' }),
    };
    expect(texts).toEqual([whole, whole, whole, whole, stopped, stopped]);
  });
});

function textOf(answer: Response | Dispatcher.ResponseData): Promise<string> {
  return answer instanceof Response ? answer.text() : answer.body.text();
}
