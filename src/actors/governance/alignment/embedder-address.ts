import { providerAddress } from '../../providers/providers.ts';
import type { AlignmentSettings } from '../settings/schema-alignment.ts';

/** Returns the URL of the embeddings API; `null` if it is not set or no provider is contacted. */
export function embedderAddress({
  enabled,
  provider,
  base_url = '',
}: Pick<AlignmentSettings, 'enabled' | 'provider' | 'base_url'>): string | null {
  return enabled ? providerAddress(provider, base_url) : null;
}
