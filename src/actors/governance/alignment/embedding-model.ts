import type { EmbeddingModel } from 'ai';
import { guardFetch, loadProvider } from '../../providers/providers.ts';
import type { AlignmentSettings } from './alignment-settings.ts';
import { resolveApiKey } from './api-key.ts';
import { EmbedderError } from './embedder.ts';
import { embedderAddress } from './embedder-address.ts';

/** Maximum bytes of a response that are read; two vectors need a hundredth of that. */
const maximumBytes = 16 * 1024 * 1024;

/** Loads the package of a provider on first use of its model. */
export type LoadEmbeddingModel = () => Promise<EmbeddingModel>;

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
