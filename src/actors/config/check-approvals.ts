import { chatProvider, runtimeProvider } from '../../machines/governance/approvers.ts';
import { errorAt, type Finding } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Checks `approvals`: the page must not be open, nor make people of different issuers one person (docs/approvals.md). */
export function checkApprovals(
  { approvals, auth }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  if (approvals === undefined) return [];
  const { scopes, client_secret_env: variable, name } = approvals.sign_in;
  const at = (key: string) => ['approvals', 'sign_in', key];
  return [
    ...(auth.required || auth.providers.length > 0
      ? []
      : [
          errorAt(
            ['approvals'],
            'without auth.providers everyone who reaches the agent decides without signing in; add a provider, such as static_token',
          ),
        ]),
    ...(scopes.includes('openid')
      ? []
      : [errorAt(at('scopes'), 'without the scope openid nobody is identified; add openid')]),
    ...(variable === undefined || (env[variable] ?? '') !== ''
      ? []
      : [
          errorAt(
            at('client_secret_env'),
            `the environment variable ${variable} is not set; it must hold the secret of the client`,
          ),
        ]),
    ...(name === undefined ? [] : nameFindings(name, approvals.sign_in.issuer, auth.providers)),
  ];
}

/** Two people with one user id at one provider count as one, so a provider has one issuer. */
function nameFindings(
  name: string,
  issuer: string,
  providers: ServiceConfig['auth']['providers'],
): Finding[] {
  const path = ['approvals', 'sign_in', 'name'];
  if ([runtimeProvider, chatProvider].includes(name)) {
    return [errorAt(path, "this is the name of the daemon's own token; choose another")];
  }
  const other = providers.find((provider) => provider.name === name);
  if (other === undefined || issuerOf(other) === issuer) return [];
  const message =
    'the provider of this name has another issuer, whose people would count as the same; choose another name';
  return [errorAt(path, message)];
}

function issuerOf(provider: ServiceConfig['auth']['providers'][number]): string | null {
  if (provider.type === 'oidc') return provider.settings.issuer;
  if (provider.type !== 'directory_ad') return null;
  return `${provider.settings.authority}/${provider.settings.tenant_id}/v2.0`;
}
