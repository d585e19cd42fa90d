import type { StaticTokenSettings } from './schema-auth.ts';

/**
 * Returns the token of a `static_token` provider. Throws an Error if none is set; the message names the variable and
 * never contains a value (docs/contract/authentication.md).
 */
export function resolveStaticToken(
  settings: StaticTokenSettings,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { token, token_env: variable } = settings;
  if (variable === undefined) {
    if (token === undefined)
      throw new Error('a static token needs settings.token_env or settings.token; add one');
    if (token === '')
      throw new Error('settings.token is empty; write one, or use settings.token_env');
    return token;
  }
  if (token !== undefined)
    throw new Error('settings.token and settings.token_env are both set; keep one');
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (value === undefined || value === '') {
    throw new Error(`the environment variable ${variable} is not set; it must hold the token`);
  }
  return value;
}
