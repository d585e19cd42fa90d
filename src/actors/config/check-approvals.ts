import { chatProvider, runtimeProvider } from '../../machines/governance/approvers.ts';
import { errorAt, type Finding, type Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Name of the provider of the dashboard's people if no provider of the agent has their issuer. */
export const dashboardProvider = 'dashboard';

/** Returns the name of the provider of an issuer: people with one user id at one provider count as one. */
export function providerOfIssuer(
  { approvals, auth }: ServiceConfig,
  issuer: string,
): string | null {
  const signIn = approvals?.sign_in;
  if (signIn?.issuer === issuer && signIn.name !== undefined) return signIn.name;
  const known = auth.providers.find(
    ({ type, settings }) => type === 'oidc' && settings.issuer === issuer,
  )?.name;
  return known ?? (signIn?.issuer === issuer ? 'sign_in' : null);
}

/** Checks `auth.dashboard_issuer`: people of the dashboard must not count as those of another issuer. */
export function checkDashboard(config: ServiceConfig): Finding[] {
  const { dashboard_issuer: issuer, providers } = config.auth;
  if (issuer === undefined || providerOfIssuer(config, issuer) !== null) return [];
  const names = [...providers.map(({ name }) => name), config.approvals?.sign_in.name];
  if (!names.includes(dashboardProvider)) return [];
  const message = `another provider has the name ${dashboardProvider}, which is that of the people of the dashboard; rename it`;
  return [errorAt(['auth', 'dashboard_issuer'], message)];
}

/** Checks `approvals`: the page must not be open, nor make people of different issuers one person (docs/approvals.md). */
export function checkApprovals(
  { approvals, auth }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  if (approvals === undefined) return [];
  const { name } = approvals.sign_in;
  return [
    ...(auth.required || auth.providers.length > 0
      ? []
      : [
          errorAt(
            ['approvals'],
            'without auth.providers everyone who reaches the agent decides without signing in; add a provider, such as static_token',
          ),
        ]),
    ...checkSignIn(approvals.sign_in, ['approvals', 'sign_in'], env),
    ...(name === undefined ? [] : nameFindings(name, approvals.sign_in.issuer, auth.providers)),
  ];
}

/** Checks the settings of a browser sign-in at a path of a file. */
export function checkSignIn(
  {
    scopes,
    client_secret_env: variable,
  }: Pick<NonNullable<ServiceConfig['approvals']>['sign_in'], 'scopes' | 'client_secret_env'>,
  path: Path,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const unset = `the environment variable ${variable} is not set; it must hold the secret of the client`;
  return [
    ...(scopes.includes('openid')
      ? []
      : [
          errorAt([...path, 'scopes'], 'without the scope openid nobody is identified; add openid'),
        ]),
    ...(variable === undefined || (env[variable] ?? '') !== ''
      ? []
      : [errorAt([...path, 'client_secret_env'], unset)]),
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
