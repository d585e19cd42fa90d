/** Who a model is asked of; `local` and `scripted` are asked in this process. */
export type ProviderName = 'openai' | 'openai-compatible' | 'anthropic' | 'google' | 'ollama';

const usualAddresses: Readonly<Record<ProviderName, string | null>> = {
  openai: 'https://api.openai.com/v1',
  'openai-compatible': null,
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://127.0.0.1:11434/v1',
};

/**
 * Names the URL that a provider answers under, without a slash at its end: `base_url` where there is one, else the usual
 * one; `null` when there is neither, or nobody is asked. A bare address of ollama means its OpenAI-compatible part.
 */
export function providerAddress(provider: string, baseUrl: string): string | null {
  const usual = isProviderName(provider) ? usualAddresses[provider] : null;
  if (!isProviderName(provider) || baseUrl === '') return usual;
  const address = baseUrl.replace(/\/+$/, '');
  const isBare = provider === 'ollama' && URL.parse(address)?.pathname === '/';
  return isBare ? `${address}/v1` : address;
}

/** Tells whether a text names a provider that is asked over a network. */
export function isProviderName(provider: string): provider is ProviderName {
  return Object.hasOwn(usualAddresses, provider);
}
