import type { AlignmentSettings } from './alignment-settings.ts';

const usualAddresses = {
  openai: 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://127.0.0.1:11434/v1',
  'openai-compatible': null,
  local: null,
};

/** Names the URL that embeddings are asked for at; `null` while there is none, or nobody is asked. */
export function embedderAddress({
  enabled,
  provider,
  base_url = '',
}: Pick<AlignmentSettings, 'enabled' | 'provider' | 'base_url'>): string | null {
  if (!enabled || provider === 'local') return null;
  return base_url === '' ? usualAddresses[provider] : base_url;
}
