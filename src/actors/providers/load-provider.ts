import type { EmbeddingModel, LanguageModel } from 'ai';
import { mendChatStream } from './mend-chat-stream.ts';
import { type ProviderName, providerAddress } from './provider-address.ts';

/** Connection settings of a provider. URL and key are always given, so no package reads them from the environment. */
export interface ProviderOptions {
  provider: ProviderName;
  baseURL: string;
  /** `null` for a provider without a key. */
  apiKey: string | null;
  /** Organisation to bill; empty for the key's default. */
  organization?: string;
  fetch: typeof globalThis.fetch;
}

export interface Provider {
  /** `api` selects one of openai's two APIs; other providers have only one. */
  language(model: string, api: 'chat' | 'responses'): Exclude<LanguageModel, string>;
  /** Throws for anthropic, which has no embedding models. */
  embedding(model: string): EmbeddingModel;
}

/** Loads the package of a provider; the first one takes about ten milliseconds. */
export async function loadProvider(options: ProviderOptions): Promise<Provider> {
  const { provider, baseURL, apiKey, organization = '', fetch } = options;
  const ways = { baseURL, fetch, ...(apiKey === null ? {} : { apiKey }) };
  switch (provider) {
    case 'openai': {
      const isElsewhere = baseURL !== providerAddress(provider, '');
      const headers = organization === '' ? {} : { 'OpenAI-Organization': organization };
      // A compatible server at another URL rarely supports the whole API.
      const chat = isElsewhere ? await compatible(options, headers) : null;
      const { createOpenAI } = await import('@ai-sdk/openai');
      const openai = createOpenAI({ ...ways, headers });
      return {
        language: (model, api) =>
          api === 'chat'
            ? (chat?.language(model, api) ?? openai.chat(model))
            : openai.responses(model),
        embedding: (model) => chat?.embedding(model) ?? openai.embeddingModel(model),
      };
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return modelsOf(createAnthropic(ways));
    }
    case 'google': {
      const { createGoogle } = await import('@ai-sdk/google');
      return modelsOf(createGoogle(ways));
    }
    case 'openai-compatible':
    case 'ollama':
      return compatible(options, {});
  }
}

/** Loads the package for servers that implement openai's chat API approximately. */
async function compatible(
  { baseURL, apiKey, fetch }: ProviderOptions,
  headers: Record<string, string>,
): Promise<Provider> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return modelsOf(
    createOpenAICompatible({
      baseURL,
      headers,
      fetch: mendChatStream(fetch),
      ...(apiKey === null ? {} : { apiKey }),
      name: 'compatible',
      includeUsage: true,
    }),
  );
}

function modelsOf(provider: {
  languageModel(model: string): Exclude<LanguageModel, string>;
  embeddingModel(model: string): EmbeddingModel;
}): Provider {
  return {
    language: (model) => provider.languageModel(model),
    embedding: (model) => provider.embeddingModel(model),
  };
}
