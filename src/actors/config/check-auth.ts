import type { Finding, Path } from './problem.ts';
import type { ServiceConfig } from './schema.ts';
import { resolveStaticToken } from './static-token.ts';

/** Checks that every provider has a name of its own and every static token a value. */
export function checkAuth(
  { auth }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const names = auth.providers.map(({ name }) => name);
  const findings = auth.providers.map((provider, index) => {
    const path = ['auth', 'providers', index];
    return [
      ...(names.indexOf(provider.name) < index ? [repeated([...path, 'name'])] : []),
      ...(provider.type === 'static_token' ? tokenFindings(provider.settings, env, path) : []),
    ];
  });
  return findings.flat();
}

function repeated(path: Path): Finding {
  const message = 'an earlier provider has this name; give each provider a name of its own';
  return { path, message, severity: 'error' };
}

function tokenFindings(
  settings: Parameters<typeof resolveStaticToken>[0],
  env: Readonly<Record<string, string | undefined>>,
  provider: Path,
): Finding[] {
  try {
    resolveStaticToken(settings, env);
    return [];
  } catch (error) {
    const key = settings.token === undefined ? 'token_env' : 'token';
    const { message } = error as Error;
    return [{ path: [...provider, 'settings', key], message, severity: 'error' }];
  }
}
