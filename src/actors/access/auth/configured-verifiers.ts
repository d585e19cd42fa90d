import { type CallerReads, nothingRead } from '../../../machines/governance/caller-reads.ts';
import { resolveStaticToken, type ServiceConfig } from '../../config/config.ts';
import type { Outbound } from '../../ports/egress.ts';
import type { Log } from '../../ports/log.ts';
import { callerOfClaims, usualClaims } from './caller-of-claims.ts';
import { directoryVerifier } from './directory-verifier.ts';
import { httpVerifier } from './http-verifier.ts';
import { iapVerifier } from './iap-verifier.ts';
import { oidcVerifier } from './oidc-verifier.ts';
import { sigv4Verifier } from './sigv4-verifier.ts';
import { staticTokenVerifier } from './static-token-verifier.ts';
import type { TokenVerifier, VerifierPorts } from './token-verifier.ts';

type Provider = ServiceConfig['auth']['providers'][number];

export interface ProviderPorts {
  env: NodeJS.ProcessEnv;
  log: Log;
  /** Egress for requests to providers; direct when absent. */
  outbound?: Outbound;
  /** Returns what rules read of callers; nothing when absent. */
  reads?: () => CallerReads;
  /** Identifier of the MCP endpoint, for which tokens are made too; absent or `null` for none. */
  resource?: string | null;
  /** True if `bind_approver` requires the approver's verified email. */
  bindsApprover?: boolean;
}

/**
 * Creates the verifiers of the configured providers, in their order (docs/contract/authentication.md). Rejects with an
 * Error that names the setting when a static token has no value.
 */
export async function configuredVerifiers(
  providers: readonly Provider[],
  { env, bindsApprover = false, reads = () => nothingRead, ...others }: ProviderPorts,
): Promise<TokenVerifier[]> {
  const making = providers.map(async (provider, index): Promise<TokenVerifier> => {
    const place = `auth.providers.${index}`;
    const ports: VerifierPorts = { ...others, place, bindsApprover, reads };
    switch (provider.type) {
      case 'static_token':
        return staticToken(provider, env, reads);
      case 'oidc':
        return oidcVerifier(provider, ports);
      case 'directory_ad':
        return directoryVerifier(provider, ports);
      case 'cloud_iap':
        return iapVerifier(provider, ports);
      case 'cloud_sigv4':
        return sigv4Verifier(provider, ports);
      case 'http_verifier':
        return httpVerifier(provider, ports);
    }
  });
  return Promise.all(making);
}

/** An identity without a user id is named after its provider; its other fields become claims. */
function staticToken(
  { name, settings, groups_claim: groupsClaim }: Extract<Provider, { type: 'static_token' }>,
  env: NodeJS.ProcessEnv,
  reads: () => CallerReads,
): TokenVerifier {
  const { user_id, email, claims } = settings.identity ?? {};
  const said = { ...claims, sub: user_id ?? name, email };
  const callerNow = () =>
    callerOfClaims(name, said, usualClaims, {
      ...{ groupsClaim, reads: reads(), others: claims ?? {} },
    }) ?? { provider: name, userId: name };
  return staticTokenVerifier(resolveStaticToken(settings, env), callerNow);
}
