import type { DeclaredScheme, SecurityScheme } from '../../../machines/card/agent-card.ts';
import type { ServiceConfig } from '../../config/config.ts';
import { directoryScheme } from './directory-verifier.ts';
import { httpVerifierScheme } from './http-verifier.ts';
import { iapScheme } from './iap-verifier.ts';
import { oidcScheme } from './oidc-verifier.ts';
import { sigv4Scheme } from './sigv4-verifier.ts';
import { staticTokenScheme } from './static-token-verifier.ts';

type Provider = ServiceConfig['auth']['providers'][number];

/**
 * Returns the card's security schemes for the providers of an agent, in their order (docs/contract/agent-card.md). The
 * key is the provider's name, which defaults to its type.
 */
export function cardSchemes(providers: readonly Provider[]): DeclaredScheme[] {
  return providers.map((provider) => ({
    key: provider.name,
    provider: provider.type,
    scheme: schemeOf(provider),
  }));
}

function schemeOf(provider: Provider): SecurityScheme {
  switch (provider.type) {
    case 'static_token':
      return staticTokenScheme();
    case 'http_verifier':
      return httpVerifierScheme();
    case 'oidc':
      return oidcScheme(provider.settings);
    case 'directory_ad':
      return directoryScheme(provider.settings);
    case 'cloud_iap':
      return iapScheme();
    case 'cloud_sigv4':
      return sigv4Scheme();
  }
}
