import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';

/** How a browser signs in to a provider of models. */
export interface SignInSettings {
  provider: string;
  issuer: string;
  /** Where the browser goes. */
  authorizationUrl: string;
  /** Where codes are exchanged; nothing else is ever asked. */
  tokenUrl: string;
  clientId: string;
  scope: string;
}

/**
 * Reads how to sign in to openai, the one provider that knows organisations, from `SERVICE_OAUTH_*`; `null` without
 * `SERVICE_OAUTH_CLIENT_ID`, since a provider knows each program by an id of its own. Throws a RangeError for an
 * address that is not https, or http on this machine.
 */
export function readSignInSettings(
  env: Readonly<Record<string, string | undefined>>,
): SignInSettings | null {
  const clientId = env['SERVICE_OAUTH_CLIENT_ID'] ?? '';
  if (clientId === '') return null;
  const issuer = env['SERVICE_OAUTH_ISSUER'] ?? 'https://auth.openai.com';
  const base = issuer.replace(/\/+$/, '');
  const settings = {
    provider: 'openai',
    issuer,
    authorizationUrl: env['SERVICE_OAUTH_AUTHORIZATION_URL'] ?? `${base}/oauth/authorize`,
    tokenUrl: env['SERVICE_OAUTH_TOKEN_URL'] ?? `${base}/oauth/token`,
    clientId,
    scope: env['SERVICE_OAUTH_SCOPE'] ?? 'openid profile email',
  };
  for (const url of [issuer, settings.authorizationUrl, settings.tokenUrl]) {
    if (!isTrustworthyUrl(url)) {
      throw new RangeError(
        'an address in SERVICE_OAUTH_* must be https, or http on this machine, without ? and #',
      );
    }
  }
  return settings;
}
