import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';

/** Settings for signing in to a model provider with a browser. */
export interface SignInSettings {
  provider: string;
  issuer: string;
  /** Authorization endpoint for the browser. */
  authorizationUrl: string;
  /** Token endpoint; the only URL that is requested. */
  tokenUrl: string;
  clientId: string;
  scope: string;
}

/**
 * Reads the sign-in settings from `SERVICE_OAUTH_*`; supports only openai, the one provider with organisations. Returns
 * `null` without `SERVICE_OAUTH_CLIENT_ID`, since providers issue a client id to each program. Throws a RangeError for
 * a URL that is neither https nor http on this machine.
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
