import { registerTelemetry } from 'ai';
import { describe, expect, it, onTestFinished } from 'vitest';
import { alignmentSchema } from '../../../../src/actors/config/schema-alignment.ts';
import { createEmbedder } from '../../../../src/actors/governance/alignment/alignment.ts';
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
    ['that numbers nothing', [{ embedding: [1, 2] }, { embedding: [3, 4] }]],
    [
      'that numbers its vectors in order',
      [
        { index: 0, embedding: [1, 2] },
        { index: 1, embedding: [3, 4] },
      ],
    ],
    ['that numbers one of them', [{ embedding: [1, 2] }, { index: 1, embedding: [3, 4] }]],
  ])('is taken in its order: one %s', async (_, data) => {
    expect(await answered({ data }, 'openai-compatible')).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it('is not believed when one vector alone is numbered wrongly', async () => {
    const data = [{ embedding: [1, 2] }, { index: 0, embedding: [3, 4] }];
    await expect(answered({ data }, 'openai-compatible')).rejects.toThrow(mixedUp);
  });

  it('may hold a zero beside other numbers', async () => {
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
  ])('is not believed with %s from google', async (_, vectors) => {
    const embeddings = vectors.map((values) => ({ values }));
    await expect(answered({ embeddings }, 'google')).rejects.toMatchObject({ code: 'bad_answer' });
  });

  it('is told to no observer of the package', async () => {
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
