import type { ServiceConfig } from '../../config/config.ts';
import { directoryKeysUrl } from './directory-verifier.ts';
import { tokenServiceHost } from './signed-url.ts';

/**
 * Returns the first URL that a provider requests; `null` for a provider that makes no requests. The metadata of an
 * `oidc` issuer may name a different host for the keys.
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
