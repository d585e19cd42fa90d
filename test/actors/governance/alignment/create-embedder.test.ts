import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generateDeterministicEmbedding, LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createEmbedder,
  EmbedderError,
} from '../../../../src/actors/governance/alignment/alignment.ts';
import { alignmentSchema } from '../../../../src/actors/governance/settings/schema-alignment.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { startServer, vectorsBody } from './embedding-server.ts';

const secret = 'sk-live-0123456789';
const env = { OPENAI_API_KEY: secret, GOOGLE_GENERATIVE_AI_API_KEY: secret, MY_KEY: 'mine' };
const never = new AbortController().signal;

function embedderOf(settings: object, clock = new ManualClock(0), fetch = globalThis.fetch) {
  return createEmbedder(alignmentSchema.parse(settings), { env, clock, fetch });
}

function compatible(address: string, clock?: ManualClock) {
  return embedderOf({ provider: 'openai-compatible', base_url: `${address}/v1` }, clock);
}

async function failureOf(promise: Promise<unknown>): Promise<object> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof EmbedderError)) throw error;
  expect(error.cause).toBeUndefined();
  return { code: error.code, message: error.message };
}

async function startMock(): Promise<LLMock> {
  const mock = await LLMock.create({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => mock.stop());
  return mock;
}

describe('the OpenAI wire', () => {
  it.each([
    ['openai', {}, `Bearer ${secret}`],
    [
      'with an openai key of another name',
      { provider: 'openai', api_key_env: 'MY_KEY' },
      'Bearer mine',
    ],
    ['openai-compatible', { provider: 'openai-compatible', api_key_env: 'MY_KEY' }, 'Bearer mine'],
    ['for openai-compatible without a key', { provider: 'openai-compatible' }, null],
    ['ollama', { provider: 'ollama' }, null],
  ])('is used %s', async (_, settings, authorization) => {
    const mock = await startMock();
    const clock = new ManualClock(0);
    const sent: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      sent.push(new Headers(init?.headers).get('authorization'));
      return globalThis.fetch(input, init);
    };
    const embedder = embedderOf({ ...settings, base_url: `${mock.url}/v1` }, clock, fetch);
    expect(await embedder.embed(['refund order 7', 'issue_refund'], never)).toEqual([
      generateDeterministicEmbedding('refund order 7'),
      generateDeterministicEmbedding('issue_refund'),
    ]);
    const requests = mock.getRequests().map(({ path, body }) => ({
      path,
      model: (body as { model?: unknown } | null)?.model,
    }));
    expect(requests).toEqual([{ path: '/v1/embeddings', model: 'text-embedding-3-small' }]);
    expect(sent).toEqual([authorization]);
    expect(clock.pending).toBe(0);
  });

  it('takes no address from the environment of the process', async () => {
    const mock = await startMock();
    const other = await startServer((_request, response) => response.writeHead(500).end());
    const before = process.env['OPENAI_BASE_URL'];
    process.env['OPENAI_BASE_URL'] = `${other.address}/v1`;
    onTestFinished(() => {
      if (before === undefined) delete process.env['OPENAI_BASE_URL'];
      else process.env['OPENAI_BASE_URL'] = before;
    });
    const urls: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      urls.push(String(input));
      return globalThis.fetch(`${mock.url}/v1/embeddings`, init);
    };
    const ports = { env, clock: new ManualClock(0), fetch };
    await createEmbedder(alignmentSchema.parse({}), ports).embed(['a'], never);
    expect(urls).toEqual(['https://api.openai.com/v1/embeddings']);
    expect(other.seen).toEqual([]);
  });

  it('is retried after a 500', async () => {
    let answers = 0;
    const server = await startServer((_request, response) => {
      answers += 1;
      if (answers === 1) response.writeHead(500, { 'retry-after-ms': '1' }).end('{}');
      else response.setHeader('content-type', 'application/json').end(vectorsBody([[1, 2]]));
    });
    expect(await compatible(server.address).embed(['a'], never)).toEqual([[1, 2]]);
    expect(server.seen.map(({ body }) => body)).toEqual(
      Array(2).fill({ model: 'text-embedding-3-small', input: ['a'], encoding_format: 'float' }),
    );
  });
});

describe('the wire of google', () => {
  it('carries the key in its own header', async () => {
    const server = await startServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ embeddings: [{ values: [1, 2] }, { values: [3, 4] }] }));
    });
    const settings = { provider: 'google', model: 'gemini-embedding-001' };
    const embedder = embedderOf({ ...settings, base_url: `${server.address}/v1beta` });
    expect(await embedder.embed(['a', 'b'], never)).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(server.seen.map(({ url, headers }) => [url, headers['x-goog-api-key']])).toEqual([
      ['/v1beta/models/gemini-embedding-001:batchEmbedContents', secret],
    ]);
  });
});

describe('a failing embedder', () => {
  const retryAtOnce = { 'retry-after-ms': '1' };
  const refused = (status: number) => ({
    code: 'refused',
    message: `the embedder answered with status ${status}`,
  });
  const mixedUp = {
    code: 'bad_answer',
    message: 'the embedder did not answer with one vector for each text',
  };
  const unreadable = {
    code: 'bad_answer',
    message: 'the answer of the embedder could not be read',
  };
  const unusable = { code: 'bad_answer', message: 'the answer of the embedder could not be used' };

  it.each([
    [500, retryAtOnce, 2],
    [503, retryAtOnce, 2],
    [429, retryAtOnce, 2],
    [400, {}, 1],
    [401, {}, 1],
    [403, {}, 1],
    [404, {}, 1],
  ])('with status %d is reported without its response', async (status, headers, requests) => {
    const server = await startServer((_request, response) => {
      const message = `Incorrect API key provided: ${secret}`;
      response.writeHead(status, { ...headers, 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message, type: 'e', code: 'e' } }));
    });
    expect(await failureOf(compatible(server.address).embed(['a'], never))).toEqual(
      refused(status),
    );
    expect(server.seen.length).toBe(requests);
  });

  it.each([301, 302, 307, 308])('with a redirect (%d) is not followed', async (status) => {
    const target = await startServer((_request, response) => response.end(vectorsBody([[1]])));
    const location = `${target.address}/v1/embeddings`;
    const server = await startServer((_request, response) =>
      response.writeHead(status, { location }).end(),
    );
    expect(await failureOf(compatible(server.address).embed(['a'], never))).toEqual(
      refused(status),
    );
    expect(target.seen).toEqual([]);
  });

  it.each([
    ['no JSON', '<html>', unreadable],
    ['nothing', '', unreadable],
    ['other JSON', '{"data":7}', unreadable],
    [
      'a string in place of a number',
      '{"data":[{"embedding":["1"]},{"embedding":[2]}]}',
      unreadable,
    ],
    ['a number out of range', '{"data":[{"embedding":[1e999]},{"embedding":[2]}]}', unreadable],
    ['too few vectors', vectorsBody([[1, 2]]), unusable],
    ['too many vectors', vectorsBody([[1], [2], [3]]), unusable],
    ['vectors of different lengths', vectorsBody([[1, 2], [1]]), mixedUp],
    ['empty vectors', vectorsBody([[], []]), mixedUp],
    [
      'a vector of zeros',
      vectorsBody([
        [1, 2],
        [0, 0],
      ]),
      mixedUp,
    ],
    [
      'vectors in another order',
      '{"data":[{"index":1,"embedding":[1]},{"index":0,"embedding":[2]}]}',
      mixedUp,
    ],
  ])('with %s is refused', async (_, body, failure) => {
    const server = await startServer((_request, response) => {
      response.setHeader('content-type', 'application/json').end(body);
    });
    expect(await failureOf(compatible(server.address).embed(['a', 'b'], never))).toEqual(failure);
    expect(server.seen.length).toBe(1);
  });

  it('with an endless answer is aborted', async () => {
    const server = await startServer((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ');
      const write = (): void => {
        while (response.write(chunk));
      };
      response.on('drain', write);
      write();
    });
    expect(await failureOf(compatible(server.address).embed(['a'], never))).toEqual(unreadable);
  });

  it('without an answer times out', async () => {
    const clock = new ManualClock(0);
    const server = await startServer(() => clock.advance(5_000));
    expect(await failureOf(compatible(server.address, clock).embed(['a'], never))).toEqual({
      code: 'timed_out',
      message: 'the embedder did not answer within 5s',
    });
    expect(clock.pending).toBe(0);
  });

  it('half-way through its answer times out', async () => {
    const clock = new ManualClock(0);
    const server = await startServer((_request, response) => {
      response.write('{"data":[', () => clock.advance(5_000));
    });
    const failure = await failureOf(compatible(server.address, clock).embed(['a'], never));
    expect(failure).toEqual({
      code: 'timed_out',
      message: 'the embedder did not answer within 5s',
    });
  });

  it('that requests a pause times out', async () => {
    const clock = new ManualClock(0);
    const server = await startServer((_request, response) => {
      response.writeHead(503, { 'retry-after': '50' }).end(() => clock.advance(5_000));
    });
    const failure = await failureOf(compatible(server.address, clock).embed(['a'], never));
    expect(failure).toEqual({
      code: 'timed_out',
      message: 'the embedder did not answer within 5s',
    });
    expect(server.seen.length).toBe(1);
  });

  it('that cannot be reached is reported as unreachable', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const promise = compatible(`http://127.0.0.1:${port}`).embed(['a'], never);
    expect(await failureOf(promise)).toEqual({
      code: 'unreachable',
      message: 'the embedder could not be reached (ECONNREFUSED)',
    });
  });

  it('rejects with the reason of the signal', async () => {
    const stop = new AbortController();
    const reason = new Error('the task was canceled');
    const server = await startServer(() => stop.abort(reason));
    const clock = new ManualClock(0);
    const embedder = compatible(server.address, clock);
    await expect(embedder.embed(['a'], stop.signal)).rejects.toBe(reason);
    await expect(embedder.embed(['a'], stop.signal)).rejects.toBe(reason);
    expect(server.seen.length).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it.each([
    [
      { provider: 'google' },
      'the environment variable GOOGLE_GENERATIVE_AI_API_KEY is not set; it must hold the key of the embedder, which holdpoint secret set GOOGLE_GENERATIVE_AI_API_KEY keeps encrypted',
    ],
    [{ provider: 'openai-compatible' }, 'openai-compatible has no base_url; write its address'],
  ])('cannot be created from %j', (settings, message) => {
    const ports = { env: {}, clock: new ManualClock(0) };
    expect(() => createEmbedder(alignmentSchema.parse(settings), ports)).toThrow(message);
  });
});
