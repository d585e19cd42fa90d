import type { Finding, Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/**
 * Warns of tokens that stand in the file itself, which is copied and shown around, and which scripts without a
 * sandbox can read. `isFilled` tells which values came from a variable.
 */
export function checkInlineTokens(
  { auth }: ServiceConfig,
  isFilled: (path: Path) => boolean,
): Finding[] {
  return auth.providers.flatMap(({ type, settings }, index): Finding[] => {
    const path = ['auth', 'providers', index, 'settings', 'token'];
    if (type !== 'static_token' || !settings.token || isFilled(path)) return [];
    const message =
      'whoever reads this file can sign in; put the token into a variable and name it in token_env';
    return [{ path, message, severity: 'warning', restsOn: [path.slice(0, -1)] }];
  });
}
