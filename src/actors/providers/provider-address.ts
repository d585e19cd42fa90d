/** Name of a model provider; `local` and `scripted` run in this process. */
export type ProviderName = 'openai' | 'openai-compatible' | 'anthropic' | 'google' | 'ollama';

const usualAddresses: Readonly<Record<ProviderName, string | null>> = {
  openai: 'https://api.openai.com/v1',
  'openai-compatible': null,
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://127.0.0.1:11434/v1',
};

/**
 * Returns the base URL of a provider without a trailing slash: `base_url` if it is set, else the default; `null` if
 * there is neither, or no requests are made. A bare ollama host means its OpenAI-compatible API.
 */
export function providerAddress(provider: string, baseUrl: string): string | null {
  const usual = isProviderName(provider) ? usualAddresses[provider] : null;
  if (!isProviderName(provider) || baseUrl === '') return usual;
  const address = baseUrl.replace(/\/+$/, '');
  const isBare = provider === 'ollama' && URL.parse(address)?.pathname === '/';
  return isBare ? `${address}/v1` : address;
}

/** Returns whether a string names a provider that is reached over a network. */
export function isProviderName(provider: string): provider is ProviderName {
  return Object.hasOwn(usualAddresses, provider);
}
