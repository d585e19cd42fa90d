import type { EmbeddingModel, LanguageModel } from 'ai';
import { mendChatStream } from './mend-chat-stream.ts';
import { type ProviderName, providerAddress } from './provider-address.ts';

/** How a provider is reached. Address and key are always given, so no package looks for one in the environment. */
export interface ProviderOptions {
  provider: ProviderName;
  baseURL: string;
  /** `null` for one that asks for none. */
  apiKey: string | null;
  /** The organisation that is billed; empty for the key's own. */
  organization?: string;
  fetch: typeof globalThis.fetch;
}

/** The models of one provider. */
export interface Provider {
  /** `api` tells which wire of openai is spoken; the others have one. */
  language(model: string, api: 'chat' | 'responses'): Exclude<LanguageModel, string>;
  /** Throws for anthropic, which has none. */
  embedding(model: string): EmbeddingModel;
}

/** Loads the package of a provider, which is a matter of some ten milliseconds for the first one. */
export async function loadProvider(options: ProviderOptions): Promise<Provider> {
  const { provider, baseURL, apiKey, organization = '', fetch } = options;
  const ways = { baseURL, fetch, ...(apiKey === null ? {} : { apiKey }) };
  switch (provider) {
    case 'openai': {
      const isElsewhere = baseURL !== providerAddress(provider, '');
      const headers = organization === '' ? {} : { 'OpenAI-Organization': organization };
      // What speaks the wire at another address rarely speaks all of it.
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

/** The models of a server that speaks the chat wire of openai more or less. */
async function compatible(
  { baseURL, apiKey, fetch }: ProviderOptions,
  headers: Record<string, string>,
): Promise<Provider> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  return modelsOf(
    createOpenAICompatible({
      ...{ baseURL, headers, fetch: mendChatStream(fetch) },
      ...(apiKey === null ? {} : { apiKey }),
      ...{ name: 'compatible', includeUsage: true },
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
