import type { EmbeddingModel } from 'ai';
import { formatDuration } from '../../../machines/duration.ts';
import type { Clock } from '../../ports/clock.ts';
import { guardFetch, loadProvider } from '../../providers/providers.ts';
import type { AlignmentSettings } from '../settings/schema-alignment.ts';
import { resolveApiKey } from './api-key.ts';
import { type Embedder, EmbedderError } from './embedder.ts';
import { embedderAddress } from './embedder-address.ts';

const dimensions = 512;

/** Whole words weigh more than trigrams. */
const wordWeight = 3;

/**
 * An embedder without network access that hashes the words and trigrams of a string. Weak: it recognises shared letters,
 * not meaning, so a synonym or another language scores low and a copied phrase high. For trials and tests, not for
 * protection.
 */
function createLocalEmbedder(): Embedder {
  return {
    embed: async (texts, signal) => {
      signal.throwIfAborted();
      return texts.map(vectorOf);
    },
  };
}

function vectorOf(text: string): number[] {
  const vector = Array<number>(dimensions).fill(0);
  const add = (feature: string, weight: number) => {
    const index = hashOf(feature) % dimensions;
    vector[index] = (vector[index] ?? 0) + weight;
  };
  const words = text
    .normalize('NFKC')
    .toLowerCase()
    .match(/\p{L}+|\p{N}+|[^\s\p{L}\p{N}]+/gu);
  for (const word of words ?? []) {
    // Punctuation counts only in trigrams: every JSON text has the same marks.
    if (/[\p{L}\p{N}]/u.test(word)) add(word, wordWeight);
    const padded = ` ${word} `;
    for (let start = 0; start + 3 <= padded.length; start += 1) {
      add(`#${padded.slice(start, start + 3)}`, 1);
    }
  }
  return vector;
}

/** FNV-1a over UTF-16 units, as an unsigned 32-bit number. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

/** Maximum bytes of a response that are read; two vectors need a hundredth of that. */
const maximumBytes = 16 * 1024 * 1024;

/** Loads the package of a provider on first use of its model. */
type LoadEmbeddingModel = () => Promise<EmbeddingModel>;

/**
 * Prepares the model of a provider other than `local`. Throws an EmbedderError if the key is missing, or if
 * openai-compatible has no URL.
 */
export function prepareEmbeddingModel(
  settings: AlignmentSettings & { provider: Exclude<AlignmentSettings['provider'], 'local'> },
  {
    env,
    fetch,
  }: { env: Readonly<Record<string, string | undefined>>; fetch: typeof globalThis.fetch },
): LoadEmbeddingModel {
  const { provider, model } = settings;
  const options = {
    provider,
    baseURL: addressOf(settings),
    apiKey: resolveApiKey(settings, env),
    fetch: guardFetch(fetch, { bytes: maximumBytes }),
  };
  return async () => (await loadProvider(options)).embedding(model);
}

function addressOf(settings: AlignmentSettings): string {
  const address = embedderAddress({ ...settings, enabled: true });
  if (address === null) {
    throw new EmbedderError('unreachable', 'openai-compatible has no base_url; write its address');
  }
  return address;
}

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

/**
 * Converts an error of a provider's package to an EmbedderError in our own words. Its message is dropped: it may quote
 * the key, the sent text or the response body.
 */
export async function embedderErrorOf(error: unknown): Promise<EmbedderError> {
  if (error instanceof EmbedderError) return error;
  const { APICallError, RetryError } = await import('ai');
  const last = RetryError.isInstance(error) ? error.lastError : error;
  if (!APICallError.isInstance(last)) {
    return new EmbedderError('bad_answer', 'the answer of the embedder could not be used');
  }
  const { statusCode } = last;
  if (statusCode === undefined) {
    return new EmbedderError('unreachable', `the embedder could not be reached${codeOf(last)}`);
  }
  if (statusCode >= 200 && statusCode < 300) {
    return new EmbedderError('bad_answer', 'the answer of the embedder could not be read');
  }
  return new EmbedderError('refused', `the embedder answered with status ${statusCode}`);
}

/** Returns the system's code for a broken connection, such as ` (ECONNREFUSED)`. */
function codeOf(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: unknown }).code;
    if (typeof code === 'string' && /^[A-Z][A-Z_]{2,40}$/.test(code)) return ` (${code})`;
  }
  return '';
}
