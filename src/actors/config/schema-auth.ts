import * as z from 'zod';
import { duration, jsonObject, name, positiveDuration, variableName } from './schema-value.ts';

const staticTokenSettings = z.object({
  token_env: variableName.optional(),
  token: z.string().optional(),
  identity: z
    .object({
      user_id: name.optional(),
      email: z.string().optional(),
      claims: jsonObject.default({}),
    })
    .optional(),
});

/** Settings of a `static_token` provider (contract section 8). */
export type StaticTokenSettings = z.output<typeof staticTokenSettings>;

const staticToken = z.object({
  type: z.literal('static_token'),
  name: name.optional(),
  settings: staticTokenSettings.prefault({}),
});

const issuerUrl = z.string().refine(isTrustworthy, {
  error: 'this must be an https URL, or http on a loopback host, without credentials, ? and #',
});

const audience = z.union([name, z.array(name).min(1)], {
  error: 'this must be a name or a list of names',
});

const longestSkew = 300_000;

/** A day, and room for issuers that add some minutes to it. */
const tokenLifetime = positiveDuration.prefault('25h');

const oidcSettings = z.object({
  /** Compared character by character with the `iss` of a token. */
  issuer: issuerUrl,
  audience: audience.optional(),
  client_id: name.optional(),
  jwks_url: issuerUrl.optional(),
  jwks_cache_ttl: positiveDuration.prefault('1h'),
  clock_skew: duration
    .refine((milliseconds) => milliseconds <= longestSkew, {
      error: 'the clocks may differ by at most 5m; set the clock right instead',
    })
    .prefault('30s'),
  max_token_lifetime: tokenLifetime,
  /** An email counts only when `email_verified` says so; as `security.defer.bind_approver` is when absent. */
  require_email_verified: z.boolean().optional(),
  claim_map: z
    .object({
      user_id: name.default('sub'),
      email: name.default('email'),
      org_id: name.default('org_id'),
      workspace_id: name.default('workspace_id'),
      acr: name.default('acr'),
    })
    .prefault({}),
});

/** Settings of an `oidc` provider, times in milliseconds (contract section 8). */
export type OidcSettings = z.output<typeof oidcSettings>;

/** Times in milliseconds (contract section 8). */
const httpVerifierSettings = z.object({
  url: issuerUrl,
  timeout: positiveDuration.prefault('10s'),
  /** The organisation that is named when a request names none. */
  default_org: z.string().default(''),
});

/** Part of a URL and of an issuer; the directory writes it in lower case. */
const tenant = z
  .string()
  .regex(/^[0-9A-Za-z.-]+$/, { error: 'this must be the id of a tenant' })
  .transform((id) => id.toLowerCase());

const directorySettings = z.object({
  tenant_id: tenant,
  audience,
  allow_multi_tenant: z.boolean().default(false),
  allowed_tenants: z.array(tenant).default([]),
  jwks_cache_ttl: positiveDuration.prefault('1h'),
  max_token_lifetime: tokenLifetime,
  /** An email counts only when the directory vouches for its domain (`xms_edov`); as `bind_approver` is when absent. */
  require_email_verified: z.boolean().optional(),
  /** Where the directory is; national clouds have one of their own. */
  authority: issuerUrl
    .transform((url) => url.replace(/\/+$/, ''))
    .prefault('https://login.microsoftonline.com'),
});

/** Settings of a `directory_ad` provider, times in milliseconds (contract section 8). */
export type DirectorySettings = z.output<typeof directorySettings>;

const iapSettings = z.object({
  audience,
  issuer: name.default('https://cloud.google.com/iap'),
  jwks_url: issuerUrl.default('https://www.gstatic.com/iap/verify/public_key-jwk'),
  max_token_lifetime: tokenLifetime,
});

/** Settings of a `cloud_iap` provider (contract section 8). */
export type IapSettings = z.output<typeof iapSettings>;

const account = z.string({ error: 'an account is twelve digits in quotes' }).regex(/^\d{12}$/, {
  error: 'an account is twelve digits in quotes',
});

const sigv4Settings = z.object({
  region: z.string().regex(/^[a-z]{2,}(?:-[a-z]+)+-\d{1,2}$/, {
    error: 'this must be a region such as eu-central-1',
  }),
  /** Sent as a header that the token must have signed. */
  audience: z
    .string()
    .regex(/^[\x21-\x7e]+$/, { error: 'this must be plain text without blanks' })
    .optional(),
  allowed_accounts: z.array(account).default([]),
  allowed_principals: z
    .array(
      z.string().regex(/^arn:[^:]*:(?:iam|sts|\*):[^:]*:[^:]*:[^:]+$/, {
        error: 'this must be an ARN such as arn:aws:sts::123456789012:assumed-role/deploy/*',
      }),
    )
    .default([]),
  identity_cache_ttl: duration.prefault('60s'),
  max_token_expires: positiveDuration.prefault('15m'),
  /** Asked instead of the region's token service. */
  sts_url: issuerUrl.optional(),
});

/** Settings of a `cloud_sigv4` provider, times in milliseconds (contract section 8). */
export type Sigv4Settings = z.output<typeof sigv4Settings>;

/** `auth`; a provider without a name is called by its type (contract section 12). */
export const authSchema = z.object({
  required: z.boolean().default(false),
  providers: z
    .array(
      z
        .discriminatedUnion('type', [
          staticToken,
          provider('oidc', oidcSettings),
          provider('http_verifier', httpVerifierSettings),
          provider('directory_ad', directorySettings),
          provider('cloud_iap', iapSettings),
          provider('cloud_sigv4', sigv4Settings),
        ])
        .transform((entry) => ({ ...entry, name: entry.name ?? entry.type })),
    )
    .default([]),
});

/** Keys that come over plain http can be forged by anybody on the way. */
function isTrustworthy(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#]/.test(text) || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === 'http:' && isLoopback;
}

/** Settings that are missing as a whole are told key by key. */
function provider<Type extends string, Settings extends z.ZodObject>(
  type: Type,
  settings: Settings,
) {
  return z.object({
    type: z.literal(type),
    name: name.optional(),
    settings: settings.prefault({} as z.input<Settings>),
  });
}
