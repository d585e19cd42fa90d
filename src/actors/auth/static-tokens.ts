import { resolveStaticToken, type ServiceConfig } from '../config/config.ts';
import type { StaticToken } from './authenticator.ts';

/**
 * Reads the static tokens of an agent and whom each stands for (contract section 8); an identity
 * without a user id goes by the provider's name.
 */
export function staticTokens(
  providers: ServiceConfig['auth']['providers'],
  env: NodeJS.ProcessEnv,
): StaticToken[] {
  return providers.flatMap((provider) => {
    if (provider.type !== 'static_token') return [];
    const { name, settings } = provider;
    const { user_id, email, claims } = settings.identity ?? {};
    const acr = claims?.['acr'];
    return {
      token: resolveStaticToken(settings, env),
      caller: {
        provider: name,
        userId: user_id ?? name,
        ...(email === undefined ? {} : { email }),
        ...(typeof acr === 'string' ? { acr } : {}),
      },
    };
  });
}
