import { registerTelemetry } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createEmbedder } from '../../../../src/actors/governance/alignment/alignment.ts';
import { alignmentSchema } from '../../../../src/actors/governance/settings/schema-alignment.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { startServer, vectorsBody } from './embedding-server.ts';

const never = new AbortController().signal;
const mixedUp = 'the embedder did not answer with one vector for each text';

/** What an embedder makes of an answer to two texts. */
async function answered(body: unknown, provider: 'google' | 'openai-compatible') {
  const server = await startServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  const settings = alignmentSchema.parse({ provider, base_url: `${server.address}/v1` });
  const env = { GOOGLE_GENERATIVE_AI_API_KEY: 'sk-live-0123456789' };
  const clock = new ManualClock(0);
  return createEmbedder(settings, { env, clock }).embed(['a', 'b'], never);
}

describe('the answer of an embedder', () => {
  it.each<[string, unknown[]]>([
    ['without indexes', [{ embedding: [1, 2] }, { embedding: [3, 4] }]],
    [
      'with indexes in order',
      [
        { index: 0, embedding: [1, 2] },
        { index: 1, embedding: [3, 4] },
      ],
    ],
    ['with one index', [{ embedding: [1, 2] }, { index: 1, embedding: [3, 4] }]],
  ])('is used in its order: one %s', async (_, data) => {
    expect(await answered({ data }, 'openai-compatible')).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('is refused when one vector has a wrong index', async () => {
    const data = [{ embedding: [1, 2] }, { index: 0, embedding: [3, 4] }];
    await expect(answered({ data }, 'openai-compatible')).rejects.toThrow(mixedUp);
  });

  it('may contain a zero next to other numbers', async () => {
    const vectors = [
      [0, 1],
      [1, 0],
    ];
    expect(await answered(JSON.parse(vectorsBody(vectors)), 'openai-compatible')).toEqual(vectors);
  });

  it.each<[string, number[][]]>([
    ['too few vectors', [[1, 2]]],
    ['no vectors', []],
    ['too many vectors', [[1], [2], [3]]],
  ])('is refused with %s from google', async (_, vectors) => {
    const embeddings = vectors.map((values) => ({ values }));
    await expect(answered({ embeddings }, 'google')).rejects.toMatchObject({ code: 'bad_answer' });
  });

  it('is reported to no observer of the package', async () => {
    const before = globalThis.AI_SDK_TELEMETRY_INTEGRATIONS;
    onTestFinished(() => {
      globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = before;
    });
    const told: unknown[] = [];
    registerTelemetry({ onStart: (event: unknown) => void told.push(event) });
    await answered(JSON.parse(vectorsBody([[1], [2]])), 'openai-compatible');
    expect(told).toEqual([]);
  });
});

describe('an embedder request', () => {
  /** An embedder over a fetch, which receives every request that it sends. */
  function asking(answer: (texts: string[]) => unknown[]) {
    const asked: number[] = [];
    const fetch = async (_url: unknown, { body }: RequestInit = {}) => {
      const { input } = JSON.parse(String(body)) as { input: string[] };
      asked.push(input.length);
      return Response.json({ data: answer(input) });
    };
    const base_url = 'https://embeddings.example.com/v1';
    const settings = alignmentSchema.parse({ provider: 'openai-compatible', base_url });
    const ports = { env: {}, clock: new ManualClock(0), fetch: fetch as typeof globalThis.fetch };
    return { embedder: createEmbedder(settings, ports), asked };
  }

  it('for no text returns no vector', async () => {
    const { embedder } = asking(() => []);
    expect(await embedder.embed([], never)).toEqual([]);
  });

  it('by an aborted caller is not sent', async () => {
    const { embedder, asked } = asking(() => [{ embedding: [1] }]);
    const reason = new Error('canceled');
    await expect(embedder.embed(['a'], AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(asked).toEqual([]);
  });

  it('for more texts than fit in one request is refused when one answer is out of order', async () => {
    const texts = Array.from({ length: 2_049 }, (_, index) => `text ${index}`);
    const inOrder = (given: string[]) => given.map((_, index) => ({ index, embedding: [1] }));
    const sound = asking(inOrder);
    expect(await sound.embedder.embed(texts, never)).toEqual(texts.map(() => [1]));
    expect(sound.asked.toSorted((one, other) => one - other)).toEqual([1, 2_048]);
    const shuffled = asking((given) =>
      given.length === 1 ? [{ index: 1, embedding: [1] }] : inOrder(given),
    );
    await expect(shuffled.embedder.embed(texts, never)).rejects.toThrow(mixedUp);
  });
});
