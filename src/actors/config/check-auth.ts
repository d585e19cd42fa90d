import {
  chatProvider,
  metricsProvider,
  runtimeProvider,
} from '../../machines/governance/approvers.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { DirectorySettings, IapSettings, OidcSettings, Sigv4Settings } from './schema-auth.ts';
import type { ServiceConfig } from './service-schema.ts';
import { resolveStaticToken } from './static-token.ts';

const ownProviders = [runtimeProvider, chatProvider];

type Provider = ServiceConfig['auth']['providers'][number];

/**
 * Checks that every provider has a unique name, every static token a value and every token issuer an audience, that no
 * provider shadows a later one, and that emails used for decisions are verified (docs/contract/decisions.md,
 * docs/contract/authentication.md).
 */
export function checkAuth(
  { auth: { providers }, security: { defer }, server }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const names = providers.map(({ name }) => name);
  const reservedNames =
    server.metrics === undefined ? ownProviders : [...ownProviders, metricsProvider];
  const findings = providers.map((provider, index) => {
    const path = ['auth', 'providers', index];
    return [
      ...(names.indexOf(provider.name) < index ? [repeated([...path, 'name'])] : []),
      ...(reservedNames.includes(provider.name) ? [reserved([...path, 'name'])] : []),
      ...settingsFindings(provider, providers.slice(0, index), env, path),
      ...(provider.type === 'http_verifier' && index < providers.length - 1
        ? [swallowing([...path, 'type'])]
        : []),
      ...(defer.bind_approver ? unprovenFindings(provider, path) : []),
    ];
  });
  return findings.flat();
}

function settingsFindings(
  provider: Provider,
  earlier: readonly Provider[],
  env: Readonly<Record<string, string | undefined>>,
  path: Path,
): Finding[] {
  switch (provider.type) {
    case 'static_token':
      return tokenFindings(provider.settings, env, path);
    case 'oidc':
      return issuerFindings(provider.settings, earlier, path);
    case 'directory_ad':
      return directoryFindings(provider.settings, earlier, path);
    case 'cloud_iap':
      return proxyFindings(provider.settings, earlier, path);
    case 'cloud_sigv4':
      return signerFindings(provider.settings, earlier, path);
    case 'http_verifier':
      return [];
  }
}

/** `email_verified` applies to the claim `email` only. */
function unprovenFindings(provider: Provider, path: Path): Finding[] {
  if (provider.type !== 'oidc') return [];
  const { claim_map: map, require_email_verified: isProofWanted } = provider.settings;
  if (map.email === 'email' || isProofWanted === false) return [];
  const message =
    'under bind_approver this claim is not used as an email, since email_verified covers email only; if users cannot edit it, set require_email_verified: false';
  return [warningAt([...path, 'settings', 'claim_map', 'email'], message)];
}

/** The first provider that accepts a token decides, and this provider accepts every token. */
function swallowing(path: Path): Finding {
  const message = 'this provider accepts every token, so later ones receive none; put it last';
  return warningAt(path, message);
}

function repeated(path: Path): Finding {
  const message = 'an earlier provider has this name; use a unique name for each provider';
  return errorAt(path, message);
}

/** Governance recognises the daemon's own tokens by these names. */
function reserved(path: Path): Finding {
  const message = "this is the name of the daemon's own token; choose another";
  return errorAt(path, message);
}

function issuerFindings(
  { issuer, audience, client_id: clientId }: OidcSettings,
  earlier: readonly Provider[],
  provider: Path,
): Finding[] {
  const findings: Finding[] = [];
  if (earlier.some(({ type, settings }) => type === 'oidc' && settings.issuer === issuer)) {
    findings.push(rival([...provider, 'settings', 'issuer']));
  }
  if (audience === undefined && clientId === undefined) {
    const message =
      'without an audience tokens for other services would pass; add audience or client_id';
    findings.push(errorAt([...provider, 'settings', 'audience'], message));
  }
  return findings;
}

function rival(path: Path): Finding {
  const message = 'an earlier provider has this issuer and would decide; list every audience there';
  return errorAt(path, message);
}

function proxyFindings(
  { issuer }: IapSettings,
  earlier: readonly Provider[],
  provider: Path,
): Finding[] {
  const isTaken = earlier.some(
    ({ type, settings }) => type === 'cloud_iap' && settings.issuer === issuer,
  );
  return isTaken ? [rival([...provider, 'settings', 'issuer'])] : [];
}

function directoryFindings(
  settings: DirectorySettings,
  earlier: readonly Provider[],
  provider: Path,
): Finding[] {
  const { allow_multi_tenant: isMulti, allowed_tenants: allowed, tenant_id: tenant } = settings;
  const at = (key: string): Path => [...provider, 'settings', key];
  const findings: Finding[] = [];
  if (earlier.some((other) => takesTokensOf(other, settings))) {
    const message = 'an earlier provider accepts the tokens of this tenant; keep one';
    findings.push(errorAt(at('tenant_id'), message));
  }
  if (isMulti && allowed.length === 0) {
    const message = 'people of any tenant may sign in; list allowed_tenants';
    findings.push(warningAt(at('allow_multi_tenant'), message));
  }
  if (!isMulti && allowed.length > 0) {
    const message = 'this counts with allow_multi_tenant: true alone';
    findings.push(warningAt(at('allowed_tenants'), message));
  }
  if (!isMulti && tenant.includes('.')) {
    const message = 'tokens name their tenant by its id, not by a domain; write the id';
    findings.push(errorAt(at('tenant_id'), message));
  }
  return findings;
}

function takesTokensOf(other: Provider, { authority, tenant_id }: DirectorySettings): boolean {
  if (other.type !== 'directory_ad' || other.settings.authority !== authority) return false;
  return other.settings.allow_multi_tenant || other.settings.tenant_id === tenant_id;
}

function signerFindings(
  { allowed_accounts: accounts, allowed_principals: principals }: Sigv4Settings,
  earlier: readonly Provider[],
  provider: Path,
): Finding[] {
  const findings: Finding[] = [];
  if (earlier.some(({ type }) => type === 'cloud_sigv4')) {
    const message = 'an earlier provider accepts every token of this kind; keep one';
    findings.push(errorAt([...provider, 'type'], message));
  }
  if (accounts.length === 0 && principals.length === 0) {
    const settings = [...provider, 'settings'];
    const message =
      'without a list every account of the cloud may sign in; add allowed_accounts or allowed_principals';
    findings.push(
      errorAt([...settings, 'allowed_accounts'], message, [...settings, 'allowed_principals']),
    );
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
    return [errorAt([...provider, 'settings', key], (error as Error).message)];
  }
}
