import type { EmbeddingModel } from 'ai';
import type { AlignmentSettings } from './alignment-settings.ts';
import { resolveApiKey } from './api-key.ts';
import { EmbedderError } from './embedder.ts';
import { embedderAddress } from './embedder-address.ts';
import { guardFetch } from './guard-fetch.ts';

/** Loads the package of a provider when its model is first needed. */
export type LoadEmbeddingModel = () => Promise<EmbeddingModel>;

/**
 * Prepares the model behind a provider other than `local`. Address and key are always passed on, so no
 * package looks for one in the environment by itself. Throws an EmbedderError when the key is missing or
 * openai-compatible has no address.
 */
export function prepareEmbeddingModel(
  settings: AlignmentSettings & { provider: Exclude<AlignmentSettings['provider'], 'local'> },
  {
    env,
    fetch,
  }: { env: Readonly<Record<string, string | undefined>>; fetch: typeof globalThis.fetch },
): LoadEmbeddingModel {
  const { provider, model } = settings;
  const apiKey = resolveApiKey(settings, env);
  const options = { fetch: guardFetch(fetch), ...(apiKey === undefined ? {} : { apiKey }) };
  const baseURL = addressOf(settings);
  switch (provider) {
    case 'openai':
      return async () => {
        const { createOpenAI } = await import('@ai-sdk/openai');
        return createOpenAI({ ...options, baseURL }).embeddingModel(model);
      };
    case 'google':
      return async () => {
        const { createGoogle } = await import('@ai-sdk/google');
        return createGoogle({ ...options, baseURL }).embeddingModel(model);
      };
    case 'openai-compatible':
    case 'ollama':
      return async () => {
        const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
        return createOpenAICompatible({ ...options, name: 'embedder', baseURL }).embeddingModel(
          model,
        );
      };
  }
}

function addressOf(settings: AlignmentSettings): string {
  const address = embedderAddress({ ...settings, enabled: true });
  if (address === null) {
    throw new EmbedderError('unreachable', 'openai-compatible has no base_url; write its address');
  }
  return address;
}
