import { providerKey } from '../../providers/providers.ts';
import type { AlignmentSettings } from '../settings/schema-alignment.ts';
import { EmbedderError } from './embedder.ts';

/**
 * Returns the API key of an embedder; `null` if it needs none. Throws an EmbedderError that names the variable, never
 * its value, if the key is empty or invalid in a header.
 */
export function resolveApiKey(
  { provider, api_key_env }: AlignmentSettings,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  if (provider === 'local') return null;
  const found = providerKey({ provider, api_key_env, purpose: 'the embedder' }, env);
  if (!found.ok) throw new EmbedderError('missing_key', found.message);
  return found.key;
}
