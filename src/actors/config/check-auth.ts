import { runtimeProvider } from '../../machines/governance/approvers.ts';
import type { Finding, Path } from './problem.ts';
import type { ServiceConfig } from './schema.ts';
import type { OidcSettings } from './schema-auth.ts';
import { resolveStaticToken } from './static-token.ts';

/**
 * Checks that every provider has a name of its own, every static token a value, and every issuer of
 * tokens an audience and no rival (contract section 8).
 */
export function checkAuth(
  { auth }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const names = auth.providers.map(({ name }) => name);
  const issuers = auth.providers.map(({ type, settings }) =>
    type === 'oidc' ? settings.issuer : null,
  );
  const findings = auth.providers.map((provider, index) => {
    const path = ['auth', 'providers', index];
    return [
      ...(names.indexOf(provider.name) < index ? [repeated([...path, 'name'])] : []),
      ...(provider.name === runtimeProvider ? [reserved([...path, 'name'])] : []),
      ...(provider.type === 'static_token' ? tokenFindings(provider.settings, env, path) : []),
      ...(provider.type === 'oidc'
        ? issuerFindings(provider.settings, issuers.slice(0, index), path)
        : []),
    ];
  });
  return findings.flat();
}

function repeated(path: Path): Finding {
  const message = 'an earlier provider has this name; give each provider a name of its own';
  return { path, message, severity: 'error' };
}

/** Governance lets the daemon's own token speak for others. */
function reserved(path: Path): Finding {
  const message = "this is the name of the daemon's own token; choose another";
  return { path, message, severity: 'error' };
}

function issuerFindings(
  { issuer, audience, client_id: clientId }: OidcSettings,
  earlier: readonly (string | null)[],
  provider: Path,
): Finding[] {
  const findings: Finding[] = [];
  if (earlier.includes(issuer)) {
    findings.push({
      path: [...provider, 'settings', 'issuer'],
      message: 'an earlier provider has this issuer and would decide; list every audience there',
      severity: 'error',
    });
  }
  if (audience === undefined && clientId === undefined) {
    findings.push({
      path: [...provider, 'settings', 'audience'],
      message:
        'without an audience tokens for other services would pass; add audience or client_id',
      severity: 'error',
    });
  }
  return findings;
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
