import type { ServiceConfig } from '../../config/config.ts';

/** Returns the issuers whose tokens the providers of an agent accept, in their order. */
export function tokenIssuers(providers: ServiceConfig['auth']['providers']): string[] {
  return providers.flatMap((provider) => {
    if (provider.type === 'oidc') return [provider.settings.issuer];
    if (provider.type !== 'directory_ad' || provider.settings.allow_multi_tenant) return [];
    const { authority, tenant_id: tenant } = provider.settings;
    return [`${authority}/${tenant}/v2.0`];
  });
}
