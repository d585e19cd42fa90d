import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  createCachingEmbedder,
  createEmbedder,
  type Embedder,
  EmbedderError,
} from '../../../../src/actors/governance/alignment/alignment.ts';
import { alignmentSchema } from '../../../../src/actors/governance/settings/schema-alignment.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { startServer, vectorsBody } from './embedding-server.ts';

const never = new AbortController().signal;

/** A cache over a server whose vector of a string is its length and its first character. */
async function startCache({ max = 10 } = {}) {
  const failing = new Set<string>();
  const server = await startServer(({ body }, response) => {
    const { input } = body as { input: string[] };
    if (input.some((text) => failing.has(text))) response.writeHead(401).end('{}');
    else response.end(vectorsBody(input.map(vectorOf)));
  });
  const settings = alignmentSchema.parse({
    provider: 'openai-compatible',
    base_url: `${server.address}/v1`,
  });
  const embedder = createEmbedder(settings, { env: {}, clock: new ManualClock(0) });
  const asked = () => server.seen.map(({ body }) => (body as { input: string[] }).input);
  return { cache: createCachingEmbedder(embedder, { max }), asked, failing };
}

function vectorOf(text: string): number[] {
  return [text.length, text.charCodeAt(0)];
}

/** An embedder whose requests a test ends by hand. */
function heldEmbedder() {
  const requests: (PromiseWithResolvers<number[][]> & { texts: string[]; signal: AbortSignal })[] =
    [];
  const embedder: Embedder = {
    embed: (texts, signal) => {
      const held = { ...Promise.withResolvers<number[][]>(), texts: [...texts], signal };
      signal.addEventListener('abort', () => held.reject(signal.reason));
      requests.push(held);
      return held.promise;
    },
  };
  return { cache: createCachingEmbedder(embedder, { max: 10 }), requests };
}

describe('the cache of vectors', () => {
  it('makes no second request for the same texts', async () => {
    const { cache, asked } = await startCache();
    const vectors = [vectorOf('ask'), vectorOf('call')];
    expect(await cache.embed(['ask', 'call'], never)).toEqual(vectors);
    expect(await cache.embed(['call', 'ask'], never)).toEqual(vectors.toReversed());
    expect(asked()).toEqual([['ask', 'call']]);
  });

  it('requests only missing texts, once each and in order', async () => {
    const { cache, asked } = await startCache();
    await cache.embed(['ask', 'first'], never);
    const texts = ['second', 'ask', 'second', 'third'];
    expect(await cache.embed(texts, never)).toEqual(texts.map(vectorOf));
    expect(asked()).toEqual([
      ['ask', 'first'],
      ['second', 'third'],
    ]);
  });

  it('makes one request for a hundred concurrent callers', async () => {
    const { cache, asked } = await startCache();
    const all = Array.from({ length: 100 }, () => cache.embed(['ask', 'call'], never));
    expect(await Promise.all(all)).toEqual(Array(100).fill([vectorOf('ask'), vectorOf('call')]));
    expect(asked()).toEqual([['ask', 'call']]);
  });

  it('joins the requests of other callers for shared texts', async () => {
    const { cache, asked } = await startCache();
    const [one, other] = await Promise.all([
      cache.embed(['ask', 'a'], never),
      cache.embed(['b', 'ask'], never),
    ]);
    expect([one, other]).toEqual([
      [vectorOf('ask'), vectorOf('a')],
      [vectorOf('b'), vectorOf('ask')],
    ]);
    expect(asked().toSorted((x, y) => y.length - x.length)).toEqual([['ask', 'a'], ['b']]);
  });

  it('drops the least recently used text', async () => {
    const { cache, asked } = await startCache({ max: 2 });
    for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await cache.embed([text], never);
    expect(asked()).toEqual([['a'], ['b'], ['c'], ['b']]);
  });

  it('answers more texts than it can store', async () => {
    const { cache } = await startCache({ max: 1 });
    expect(await cache.embed(['a', 'b', 'c'], never)).toEqual(['a', 'b', 'c'].map(vectorOf));
  });

  it('does not store a failure', async () => {
    const { cache, asked, failing } = await startCache();
    failing.add('a');
    await expect(cache.embed(['a'], never)).rejects.toMatchObject({ code: 'refused' });
    await expect(cache.embed(['a'], never)).rejects.toMatchObject({ code: 'refused' });
    failing.clear();
    expect(await cache.embed(['a'], never)).toEqual([vectorOf('a')]);
    expect(asked()).toEqual([['a'], ['a'], ['a']]);
  });

  it('fails every caller that waits for a failed request', async () => {
    const { cache, requests } = heldEmbedder();
    const all = [1, 2, 3].map(() => cache.embed(['a'], never));
    const broken = new Error('broken');
    requests[0]?.reject(broken);
    expect(await Promise.allSettled(all)).toEqual(
      Array(3).fill({ status: 'rejected', reason: broken }),
    );
  });

  it('refuses an answer with another number of vectors', async () => {
    const { cache, requests } = heldEmbedder();
    const answer = cache.embed(['a', 'b'], never);
    requests[0]?.resolve([[1]]);
    await expect(answer).rejects.toThrow(
      new EmbedderError('bad_answer', 'the embedder did not answer with one vector for each text'),
    );
  });

  it('continues for the others when one caller aborts', async () => {
    const { cache, requests } = heldEmbedder();
    const stop = new AbortController();
    const stopped = cache.embed(['a'], stop.signal);
    const waiting = cache.embed(['a'], never);
    const reason = new Error('canceled');
    stop.abort(reason);
    await expect(stopped).rejects.toBe(reason);
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([false]);
    requests[0]?.resolve([[1]]);
    expect(await waiting).toEqual([[1]]);
  });

  it('aborts a request without waiting callers, and starts again for the next one', async () => {
    const { cache, requests } = heldEmbedder();
    const stops = [new AbortController(), new AbortController()];
    const all = stops.map(({ signal }) => cache.embed(['a'], signal));
    for (const stop of stops) stop.abort(new Error('canceled'));
    await Promise.allSettled(all);
    const next = cache.embed(['a'], never);
    expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    requests[1]?.resolve([[2]]);
    expect(await next).toEqual([[2]]);
  });

  it('removes its listener from a caller that was answered', async () => {
    const { cache, requests } = heldEmbedder();
    const { signal } = new AbortController();
    const answer = cache.embed(['a'], signal);
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    requests[0]?.resolve([[1]]);
    await answer;
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('sends nothing for an aborted caller', async () => {
    const { cache, requests } = heldEmbedder();
    const reason = new Error('canceled');
    await expect(cache.embed(['a'], AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(requests).toEqual([]);
  });
});
