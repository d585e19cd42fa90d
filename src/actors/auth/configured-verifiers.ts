import { resolveStaticToken, type ServiceConfig } from '../config/config.ts';
import type { Log } from '../ports.ts';
import { oidcVerifier } from './oidc-verifier.ts';
import { staticTokenVerifier } from './static-token-verifier.ts';
import type { TokenVerifier } from './token-verifier.ts';

type Provider = ServiceConfig['auth']['providers'][number];

/**
 * Makes the providers of an agent in the order they are listed (contract section 8). Throws an Error
 * that names the setting when a static token has no value.
 */
export function configuredVerifiers(
  providers: readonly Provider[],
  env: NodeJS.ProcessEnv,
  log: Log,
): TokenVerifier[] {
  return providers.map((provider) => {
    switch (provider.type) {
      case 'static_token':
        return staticToken(provider, env);
      case 'oidc':
        return oidcVerifier(provider, log);
      default:
        throw new Error(`an auth provider of type ${provider.type} is not available; remove it`);
    }
  });
}

/** An identity without a user id goes by the provider's name. */
function staticToken(
  { name, settings }: Extract<Provider, { type: 'static_token' }>,
  env: NodeJS.ProcessEnv,
): TokenVerifier {
  const { user_id, email, claims } = settings.identity ?? {};
  const acr = claims?.['acr'];
  return staticTokenVerifier(resolveStaticToken(settings, env), {
    provider: name,
    userId: user_id ?? name,
    ...(email === undefined ? {} : { email }),
    ...(typeof acr === 'string' ? { acr } : {}),
  });
}
