import type { Finding, Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/**
 * Warns about tokens written in the file itself, which is copied and shared, and which unsandboxed scripts can read.
 * `isFilled` returns whether a value came from a variable.
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
