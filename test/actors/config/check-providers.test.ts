import { describe, expect, it } from 'vitest';
import { checkAuth } from '../../../src/actors/config/check-auth.ts';
import { parseConfig, type ServiceConfig } from '../../../src/actors/config/config.ts';
import { authSchema } from '../../../src/actors/config/schema-auth.ts';

/** What is said of providers, as `severity path | message`. */
function findings(...providers: object[]): string[] {
  const auth = authSchema.parse({ providers });
  const security = { defer: { bind_approver: false } };
  return checkAuth({ auth, security, server: {} } as ServiceConfig, {}).map(
    ({ path, message, severity }) => `${severity} ${path.join('.')} | ${message}`,
  );
}

/** What is wrong with the settings of one provider, each as `path | message`. */
function complaints(type: string, settings: string): string[] {
  const text = `agent_id: x\nauth:\n  providers: [{type: ${type}, settings: {${settings}}}]\n`;
  const reading = parseConfig(text, { file: 'service.yaml', env: {} });
  return (reading.ok ? [] : reading.problems)
    .filter(({ path }) => path.includes('settings'))
    .map(({ path, message }) => `${path.replace('auth.providers.0.settings.', '')} | ${message}`);
}

const directory = (settings: object) => ({
  type: 'directory_ad',
  name: JSON.stringify(settings),
  settings: { tenant_id: 'T-1', audience: 'a', ...settings },
});
const signer = (settings: object, name = 's') => ({
  type: 'cloud_sigv4',
  name,
  settings: { region: 'eu-central-1', ...settings },
});
const iap = (name: string, settings: object = {}) => ({
  type: 'cloud_iap',
  name,
  settings: { audience: 'a', ...settings },
});
const verifier = (name: string) => ({
  type: 'http_verifier',
  name,
  settings: { url: 'https://a.io/v' },
});

describe('a chain of providers', () => {
  it('is accepted when each has its own settings', () => {
    expect(
      findings(
        directory({}),
        directory({ tenant_id: 'T-2' }),
        directory({ authority: 'https://login.microsoftonline.us' }),
        directory({ tenant_id: 'T-3', allow_multi_tenant: true, allowed_tenants: ['T-4'] }),
        iap('i'),
        iap('j', { issuer: 'https://other' }),
        signer({ allowed_accounts: ['123456789012'] }),
        verifier('v'),
      ),
    ).toEqual([]);
  });

  it.each<[string, object[], string]>([
    [
      'a verifier before other providers',
      [verifier('v'), iap('i')],
      'warning auth.providers.0.type | this provider accepts every token, so later ones receive none; put it last',
    ],
    [
      'a proxy twice',
      [iap('i'), iap('j')],
      'error auth.providers.1.settings.issuer | an earlier provider has this issuer and would decide; list every audience there',
    ],
    [
      'a tenant twice',
      [directory({}), directory({ tenant_id: 't-1' })],
      'error auth.providers.1.settings.tenant_id | an earlier provider accepts the tokens of this tenant; keep one',
    ],
    [
      'a tenant after all tenants',
      [directory({ allow_multi_tenant: true, allowed_tenants: ['x'] }), directory({})],
      'error auth.providers.1.settings.tenant_id | an earlier provider accepts the tokens of this tenant; keep one',
    ],
    [
      'every tenant',
      [directory({ allow_multi_tenant: true })],
      'warning auth.providers.0.settings.allow_multi_tenant | people of any tenant may sign in; list allowed_tenants',
    ],
    [
      'a list without effect',
      [directory({ allowed_tenants: ['x'] })],
      'warning auth.providers.0.settings.allowed_tenants | this counts with allow_multi_tenant: true alone',
    ],
    [
      'a domain in place of a tenant',
      [directory({ tenant_id: 'a.onmicrosoft.com' })],
      'error auth.providers.0.settings.tenant_id | tokens name their tenant by its id, not by a domain; write the id',
    ],
    [
      'every account',
      [signer({})],
      'error auth.providers.0.settings.allowed_accounts | without a list every account of the cloud may sign in; add allowed_accounts or allowed_principals',
    ],
    [
      'signers twice',
      [
        signer({ allowed_accounts: ['123456789012'] }),
        signer({ allowed_principals: ['arn:aws:sts::*:*'] }, 't'),
      ],
      'error auth.providers.1.type | an earlier provider accepts every token of this kind; keep one',
    ],
  ])('has a finding for %s', (_, providers, line) => {
    expect(findings(...providers)).toEqual([line]);
  });
});

const untrustworthy =
  'this must be an https URL, or http on a loopback host, without credentials, ? and #';

it.each([
  ['http_verifier', '', 'url | auth.providers.0.settings.url: this key is missing; add it'],
  ['http_verifier', 'url: "http://a.io"', `url | auth.providers.0.settings.url: ${untrustworthy}`],
  [
    'directory_ad',
    'tenant_id: t, audience: x, authority: "http://a.io"',
    `authority | auth.providers.0.settings.authority: ${untrustworthy}`,
  ],
  [
    'directory_ad',
    'tenant_id: "a/b", audience: x',
    'tenant_id | auth.providers.0.settings.tenant_id: this must be the id of a tenant',
  ],
  [
    'cloud_iap',
    '',
    'audience | auth.providers.0.settings.audience: this must be a name or a list of names',
  ],
  [
    'cloud_sigv4',
    'region: "evil.io/", allowed_accounts: ["123456789012"]',
    'region | auth.providers.0.settings.region: this must be a region such as eu-central-1',
  ],
  [
    'cloud_sigv4',
    'region: eu-central-1, allowed_accounts: [123456789012]',
    'allowed_accounts.0 | auth.providers.0.settings.allowed_accounts.0: an account is twelve digits in quotes',
  ],
  [
    'cloud_sigv4',
    'region: eu-central-1, allowed_principals: [ann]',
    'allowed_principals.0 | auth.providers.0.settings.allowed_principals.0: this must be an ARN such as arn:aws:sts::123456789012:assumed-role/deploy/*',
  ],
  [
    'cloud_sigv4',
    'region: eu-central-1, audience: "a b", allowed_accounts: ["123456789012"]',
    'audience | auth.providers.0.settings.audience: this must be plain text without blanks',
  ],
  [
    'cloud_sigv4',
    'region: eu-central-1, allowed_principals: ["arn:aws:iam::*:*"], sts_ur: x',
    'sts_ur | auth.providers.0.settings.sts_ur: unknown key; did you mean sts_url?',
  ],
])('a provider %s with {%s} is refused', (type, settings, line) => {
  expect(complaints(type, settings)).toEqual([line]);
});

it('the omitted settings of providers get their defaults', () => {
  const { providers } = authSchema.parse({
    providers: [
      { type: 'http_verifier', settings: { url: 'https://a.io/v' } },
      { type: 'directory_ad', settings: { tenant_id: 'T', audience: 'a' } },
      { type: 'cloud_iap', settings: { audience: 'a' } },
      { type: 'cloud_sigv4', settings: { region: 'us-gov-west-1' } },
    ],
  });
  expect(providers).toEqual([
    {
      type: 'http_verifier',
      name: 'http_verifier',
      settings: { url: 'https://a.io/v', timeout: 10_000, default_org: '' },
    },
    {
      type: 'directory_ad',
      name: 'directory_ad',
      settings: {
        tenant_id: 't',
        audience: 'a',
        allow_multi_tenant: false,
        allowed_tenants: [],
        jwks_cache_ttl: 3_600_000,
        max_token_lifetime: 90_000_000,
        authority: 'https://login.microsoftonline.com',
      },
    },
    {
      type: 'cloud_iap',
      name: 'cloud_iap',
      settings: {
        audience: 'a',
        issuer: 'https://cloud.google.com/iap',
        jwks_url: 'https://www.gstatic.com/iap/verify/public_key-jwk',
        max_token_lifetime: 90_000_000,
      },
    },
    {
      type: 'cloud_sigv4',
      name: 'cloud_sigv4',
      settings: {
        region: 'us-gov-west-1',
        allowed_accounts: [],
        allowed_principals: [],
        identity_cache_ttl: 60_000,
        max_token_expires: 900_000,
      },
    },
  ]);
});
