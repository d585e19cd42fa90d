import { type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/**
 * Warns about tokens written in the file itself, which is copied and shared, and which unsandboxed scripts can read.
 * `isFilled` returns whether a value came from a variable.
 */
export function checkInlineTokens(
  { auth, gate, mcp }: ServiceConfig,
  isFilled: (path: Path) => boolean,
): Finding[] {
  const secrets = Object.keys(gate?.acs?.secrets ?? {}).flatMap((name): Finding[] => {
    const path = ['gate', 'acs', 'secrets', name];
    if (isFilled(path)) return [];
    const message =
      'anyone who can read this file can sign as this client; put the secret into a variable, and write ${NAME}';
    return [warningAt(path, message, path.slice(0, -1))];
  });
  const tokens = auth.providers.flatMap(({ type, settings }, index): Finding[] => {
    const path = ['auth', 'providers', index, 'settings', 'token'];
    if (type !== 'static_token' || !settings.token || isFilled(path)) return [];
    const message =
      'anyone who can read this file can sign in; put the token into a variable and set token_env to its name';
    return [warningAt(path, message, path.slice(0, -1))];
  });
  const clients = mcp.servers.flatMap((server, index): Finding[] => {
    const path = ['mcp', 'servers', index, 'auth', 'client_secret'];
    if (server.auth?.client_secret === undefined || isFilled(path)) return [];
    const message =
      'anyone who can read this file can sign in as the agent; put the secret into a variable, and write ${NAME}';
    return [warningAt(path, message, path.slice(0, -1))];
  });
  return [...tokens, ...secrets, ...clients];
}
