import { resolveStaticToken, type ServiceConfig } from '../config/config.ts';
import type { Log, Outbound } from '../ports.ts';
import { callerOfClaims, usualClaims } from './caller-of-claims.ts';
import { directoryVerifier } from './directory-verifier.ts';
import { httpVerifier } from './http-verifier.ts';
import { iapVerifier } from './iap-verifier.ts';
import { oidcVerifier } from './oidc-verifier.ts';
import { sigv4Verifier } from './sigv4-verifier.ts';
import { staticTokenVerifier } from './static-token-verifier.ts';
import type { TokenVerifier, VerifierPorts } from './token-verifier.ts';

type Provider = ServiceConfig['auth']['providers'][number];

/**
 * Makes the providers of an agent in the order they are listed (contract section 8). What they ask goes
 * through `outbound`, or directly without one. Throws an Error that names the setting when a static
 * token has no value.
 */
export function configuredVerifiers(
  providers: readonly Provider[],
  env: NodeJS.ProcessEnv,
  log: Log,
  outbound?: Outbound,
): TokenVerifier[] {
  return providers.map((provider, index) => {
    const place = `auth.providers.${index}`;
    const ports: VerifierPorts = { log, place, ...(outbound === undefined ? {} : { outbound }) };
    switch (provider.type) {
      case 'static_token':
        return staticToken(provider, env);
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
}

/** An identity without a user id goes by the provider's name; what else is told of it stands in its claims. */
function staticToken(
  { name, settings }: Extract<Provider, { type: 'static_token' }>,
  env: NodeJS.ProcessEnv,
): TokenVerifier {
  const { user_id, email, claims } = settings.identity ?? {};
  const said = { ...claims, sub: user_id ?? name, email };
  const caller = callerOfClaims(name, said, usualClaims) ?? { provider: name, userId: name };
  return staticTokenVerifier(resolveStaticToken(settings, env), caller);
}
