import type { EmbeddingModel } from 'ai';
import { formatDuration } from '../../../machines/duration.ts';
import type { Clock } from '../../ports/clock.ts';
import type { AlignmentSettings } from './alignment-settings.ts';
import { type Embedder, EmbedderError } from './embedder.ts';
import { embedderErrorOf } from './embedder-failure.ts';
import { prepareEmbeddingModel } from './embedding-model.ts';
import { createLocalEmbedder } from './local-embedder.ts';

export interface EmbedderPorts {
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Fetch for requests; the global fetch when absent. */
  fetch?: typeof globalThis.fetch;
}

/**
 * Creates the configured embedder; its package is loaded with the first text. A request is tried at most twice within
 * the timeout. Throws an EmbedderError when the key or the URL is missing.
 */
export function createEmbedder(
  settings: AlignmentSettings,
  { env, clock, fetch = globalThis.fetch }: EmbedderPorts,
): Embedder {
  const { provider, timeout } = settings;
  if (provider === 'local') return createLocalEmbedder();
  const load = prepareEmbeddingModel({ ...settings, provider }, { env, fetch });
  return {
    async embed(texts, signal) {
      signal.throwIfAborted();
      const model = await load();
      const late = new AbortController();
      const timer = clock.setTimeout(() => late.abort(), timeout);
      try {
        return await request(model, texts, AbortSignal.any([signal, late.signal]));
      } catch (error) {
        signal.throwIfAborted();
        if (!late.signal.aborted) throw await embedderErrorOf(error);
        const message = `the embedder did not answer within ${formatDuration(timeout)}`;
        throw new EmbedderError('timed_out', message);
      } finally {
        clock.clearTimeout(timer);
      }
    },
  };
}

async function request(
  model: EmbeddingModel,
  texts: readonly string[],
  abortSignal: AbortSignal,
): Promise<number[][]> {
  const { embedMany } = await import('ai');
  const { embeddings, responses } = await embedMany({
    model,
    values: [...texts],
    maxRetries: 1,
    abortSignal,
    telemetry: { isEnabled: false },
  });
  const bodies = responses?.map((response) => response?.body) ?? [];
  if (embeddings.length !== texts.length || bodies.some(isShuffled) || !areVectors(embeddings)) {
    const message = 'the embedder did not answer with one vector for each text';
    throw new EmbedderError('bad_answer', message);
  }
  return embeddings;
}

/** The package pairs vectors with texts by position; a response with other indexes would mix them up. */
function isShuffled(body: unknown): boolean {
  const items = (body as { data?: unknown } | null | undefined)?.data;
  if (!Array.isArray(items)) return false;
  return items.some((item: { index?: unknown } | null, position) => {
    const index = item?.index ?? position;
    return index !== position;
  });
}

function areVectors(embeddings: readonly (readonly number[])[]): boolean {
  const length = embeddings[0]?.length ?? 0;
  return embeddings.every(
    (vector) =>
      vector.length === length && vector.every(Number.isFinite) && vector.some((x) => x !== 0),
  );
}
