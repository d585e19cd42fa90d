import type { ServiceConfig } from '../../config/config.ts';
import { directoryKeysUrl } from './directory-verifier.ts';
import { tokenServiceHost } from './signed-url.ts';

/**
 * Names the one URL a provider asks first; `null` for one that asks nobody. The metadata of an `oidc`
 * issuer may lead to a host of its own for the keys, which only the issuer knows.
 */
export function providerAddress(
  provider: ServiceConfig['auth']['providers'][number],
): string | null {
  switch (provider.type) {
    case 'static_token':
      return null;
    case 'oidc':
      return provider.settings.jwks_url ?? provider.settings.issuer;
    case 'directory_ad':
      return directoryKeysUrl(provider.settings);
    case 'cloud_iap':
      return provider.settings.jwks_url;
    case 'cloud_sigv4':
      return provider.settings.sts_url ?? `https://${tokenServiceHost(provider.settings.region)}/`;
    case 'http_verifier':
      return provider.settings.url;
  }
}
