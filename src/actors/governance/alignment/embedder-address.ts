import { providerAddress } from '../../providers/providers.ts';
import type { AlignmentSettings } from './alignment-settings.ts';

/** Names the URL that embeddings are asked for at; `null` while there is none, or nobody is asked. */
export function embedderAddress({
  enabled,
  provider,
  base_url = '',
}: Pick<AlignmentSettings, 'enabled' | 'provider' | 'base_url'>): string | null {
  return enabled ? providerAddress(provider, base_url) : null;
}
