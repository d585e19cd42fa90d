import * as z from 'zod';
import { isTrustworthyUrl } from '../../machines/trustworthy-url.ts';
import { duration, jsonObject, name, positiveDuration, variableName } from '../schema-value.ts';

const staticTokenSettings = z.object({
  token_env: variableName.optional().meta({
    description: 'Variable that holds the token; this or `token` is required.',
    example: 'SERVICE_TOKEN',
  }),
  token: z.string().optional().meta({
    description: 'The token itself, best as `${VARIABLE}`.',
    example: '${SERVICE_TOKEN}',
  }),
  identity: z
    .object({
      user_id: name
        .optional()
        .meta({ description: 'Name of the person or program.', example: 'ann' }),
      email: z.string().optional().meta({
        description: 'Email of the user, used for decisions.',
        example: 'ann@example.com',
      }),
      claims: jsonObject.default({}).meta({
        description: 'Further claims; `acr` serves step-up, `org_id` names the organisation.',
        example: { acr: 'gold' },
      }),
    })
    .optional()
    .describe('Identity of the token.'),
});

/** Settings of a `static_token` provider (docs/contract/authentication.md). */
export type StaticTokenSettings = z.output<typeof staticTokenSettings>;

/** Claim with the groups of a user. */
export const groupsClaim = name.optional().meta({
  description:
    'Claim with the groups of the user, for conditions; a path such as `realm_access.roles` for a nested one.',
  example: 'groups',
});

const staticToken = z.object({
  type: z.literal('static_token').describe('A fixed token from the operator.'),
  name: name.optional().meta({
    description: 'Name of the provider on the card and in the log; its type if omitted.',
    example: 'ops',
  }),
  groups_claim: groupsClaim,
  decide: z
    .boolean()
    .default(false)
    .describe(
      'Lets the token decide on the calls of a [gate](gate.md#who-decides), except on those that it asked for. Without it the token only asks.',
    ),
  settings: staticTokenSettings.prefault({}).describe('Settings of the provider.'),
});

/** URL of an issuer. */
export const issuerUrl = z.string().refine(isTrustworthyUrl, {
  error: 'this must be an https URL, or http on a loopback host, without credentials, ? and #',
});

const audience = z.union([name, z.array(name).min(1)], {
  error: 'this must be a name or a list of names',
});

const longestSkew = 300_000;

/** One day, plus a margin for issuers that add some minutes. */
const tokenLifetime = positiveDuration
  .prefault('25h')
  .meta({ description: 'Longest life of a token that is accepted.', example: '8h' });

/** How far the clocks of an issuer and the daemon may differ, in milliseconds. */
export const clockSkew = duration
  .refine((milliseconds) => milliseconds <= longestSkew, {
    error: 'the clocks may differ by at most 5m; set the clock right instead',
  })
  .prefault('30s')
  .meta({
    description: 'How far the clocks of issuer and daemon may differ; 5m at most.',
    example: '1m',
  });

/** Claims from which the identity of a user is read. */
export const claimMap = z
  .object({
    user_id: name.default('sub').meta({ description: 'Claim of the user id.', example: 'oid' }),
    email: name.default('email').meta({ description: 'Claim of the email.', example: 'upn' }),
    org_id: name
      .default('org_id')
      .meta({ description: 'Claim of the organisation.', example: 'tenant' }),
    workspace_id: name
      .default('workspace_id')
      .meta({ description: 'Claim of the workspace.', example: 'team' }),
    acr: name
      .default('acr')
      .meta({ description: 'Claim of the assurance level.', example: 'level' }),
  })
  .prefault({})
  .describe('Claims of the token that are read.');

const oidcSettings = z.object({
  issuer: issuerUrl.meta({
    description: 'Issuer of the tokens, compared character by character with their `iss`.',
    example: 'https://id.example.com',
  }),
  audience: audience.optional().meta({
    description: 'Whom the tokens are for; this or `client_id` is required.',
    example: 'refunds',
  }),
  client_id: name.optional().meta({
    description: 'Client the tokens were issued to; accepted as audience too.',
    example: 'refunds-desk',
  }),
  jwks_url: issuerUrl.optional().meta({
    description: "URL of the issuer's keys; taken from its metadata if omitted.",
    example: 'https://id.example.com/keys',
  }),
  jwks_cache_ttl: positiveDuration.prefault('1h').meta({
    description: "How long the issuer's keys are cached.",
    example: '10m',
  }),
  clock_skew: clockSkew,
  max_token_lifetime: tokenLifetime,
  require_email_verified: z
    .boolean()
    .optional()
    .describe(
      'Accepts an email only if `email_verified` is true; same as `security.defer.bind_approver` if omitted.',
    ),
  claim_map: claimMap,
});

/** Settings of an `oidc` provider; times in milliseconds (docs/contract/authentication.md). */
export type OidcSettings = z.output<typeof oidcSettings>;

/** Times in milliseconds (docs/contract/authentication.md). */
const httpVerifierSettings = z.object({
  url: issuerUrl.meta({
    description: 'URL that verifies each token.',
    example: 'https://verify.example.com/token',
  }),
  timeout: positiveDuration.prefault('10s').meta({
    description: 'Timeout of one request; a token without an answer is refused.',
    example: '3s',
  }),
  default_org: z.string().default('').meta({
    description: 'Default organisation of requests that name none.',
    example: 'acme',
  }),
});

/** Part of a URL and of an issuer; the directory writes it in lower case. */
const tenant = z
  .string()
  .regex(/^[0-9A-Za-z.-]+$/, { error: 'this must be the id of a tenant' })
  .transform((id) => id.toLowerCase());

const directorySettings = z.object({
  tenant_id: tenant.meta({
    description: 'Tenant of the directory.',
    example: '11111111-2222-3333-4444-555555555555',
  }),
  audience: audience.meta({ description: 'Whom the tokens are for.', example: 'api://refunds' }),
  allow_multi_tenant: z
    .boolean()
    .default(false)
    .describe('Accepts users of other tenants, limited to `allowed_tenants` if set.'),
  allowed_tenants: z
    .array(tenant)
    .default([])
    .meta({
      description: 'The other tenants.',
      example: ['22222222-3333-4444-5555-666666666666'],
    }),
  jwks_cache_ttl: positiveDuration.prefault('1h').meta({
    description: "How long the directory's keys are cached.",
    example: '10m',
  }),
  max_token_lifetime: tokenLifetime,
  require_email_verified: z
    .boolean()
    .optional()
    .describe(
      'Accepts an email only if the directory verified its domain (`xms_edov`); same as `security.defer.bind_approver` if omitted.',
    ),
  authority: issuerUrl
    .transform((url) => url.replace(/\/+$/, ''))
    .prefault('https://login.microsoftonline.com')
    .meta({
      description: 'Where the directory is; national clouds have one of their own.',
      example: 'https://login.microsoftonline.us',
    }),
});

/** Settings of a `directory_ad` provider; times in milliseconds (docs/contract/authentication.md). */
export type DirectorySettings = z.output<typeof directorySettings>;

const iapSettings = z.object({
  audience: audience.meta({
    description: 'Whom the assertions are for.',
    example: '/projects/123456789012/apps/refunds',
  }),
  issuer: name
    .default('https://cloud.google.com/iap')
    .meta({ description: 'Issuer of the assertions.', example: 'https://cloud.google.com/iap' }),
  jwks_url: issuerUrl.default('https://www.gstatic.com/iap/verify/public_key-jwk').meta({
    description: 'Where the keys of the proxy are.',
    example: 'https://www.gstatic.com/iap/verify/public_key-jwk',
  }),
  max_token_lifetime: tokenLifetime.meta({
    description: 'Longest life of an assertion that is accepted.',
    example: '1h',
  }),
});

/** Settings of a `cloud_iap` provider (docs/contract/authentication.md). */
export type IapSettings = z.output<typeof iapSettings>;

const account = z.string({ error: 'an account is twelve digits in quotes' }).regex(/^\d{12}$/, {
  error: 'an account is twelve digits in quotes',
});

const sigv4Settings = z.object({
  region: z
    .string()
    .regex(/^[a-z]{2,}(?:-[a-z]+)+-\d{1,2}$/, {
      error: 'this must be a region such as eu-central-1',
    })
    .meta({ description: 'Region of the token service.', example: 'eu-central-1' }),
  audience: z
    .string()
    .regex(/^[\x21-\x7e]+$/, { error: 'this must be plain text without blanks' })
    .optional()
    .meta({
      description:
        'Whom the tokens are for: the caller signs it as the header `X-Service-Audience`.',
      example: 'urn:refunds',
    }),
  allowed_accounts: z
    .array(account)
    .default([])
    .meta({
      description: 'Accounts that may sign in; this or `allowed_principals` is required.',
      example: ['123456789012'],
    }),
  allowed_principals: z
    .array(
      z.string().regex(/^arn:[^:]*:(?:iam|sts|\*):[^:]*:[^:]*:[^:]+$/, {
        error: 'this must be an ARN such as arn:aws:sts::123456789012:assumed-role/deploy/*',
      }),
    )
    .default([])
    .meta({
      description: 'Users and roles that may sign in, `*` at the end for any ending.',
      example: ['arn:aws:sts::123456789012:assumed-role/deploy/*'],
    }),
  identity_cache_ttl: duration.prefault('60s').meta({
    description: 'How long the answer of the token service holds for a token.',
    example: '5m',
  }),
  max_token_expires: positiveDuration
    .prefault('15m')
    .meta({ description: 'Longest life of a token that is accepted.', example: '5m' }),
  sts_url: issuerUrl.optional().meta({
    description: 'Asked instead of the token service of the region.',
    example: 'https://sts.example.com',
  }),
});

/** Settings of a `cloud_sigv4` provider; times in milliseconds (docs/contract/authentication.md). */
export type Sigv4Settings = z.output<typeof sigv4Settings>;

/** `auth`; the name of a provider defaults to its type (docs/contract/agent-card.md). */
export const authSchema = z.object({
  dashboard_issuer: issuerUrl.optional().meta({
    description:
      "Issuer of the [dashboard's sign-in](dashboard.md#for-a-team). The dashboard may then name a person of this issuer with the daemon's own token, and the person decides as with a token; omitted, it may name none.",
    example: 'https://id.example.com/realms/staff',
  }),
  required: z
    .boolean()
    .default(false)
    .describe('Refuses to start without a provider, and with `--no-auth`.'),
  providers: z
    .array(
      z
        .discriminatedUnion('type', [
          staticToken,
          claimsProvider('oidc', 'Tokens of an OpenID Connect issuer.', oidcSettings),
          claimsProvider(
            'http_verifier',
            'Any bearer token, verified by a URL; must be last.',
            httpVerifierSettings,
          ),
          claimsProvider('directory_ad', 'Tokens of a tenant of a directory.', directorySettings),
          claimsProvider(
            'cloud_iap',
            'Assertions of an identity-aware proxy, in `X-Cloud-Iap-Jwt-Assertion`.',
            iapSettings,
          ),
          provider(
            'cloud_sigv4',
            'Pre-signed questions to the token service of a cloud.',
            sigv4Settings,
          ),
        ])
        .transform((entry) => ({ ...entry, name: entry.name ?? entry.type })),
    )
    .default([])
    .meta({
      description: 'Chain of providers; the first one that recognises a credential decides.',
      example: [{ type: 'static_token', name: 'ops', settings: { token_env: 'SERVICE_TOKEN' } }],
    }),
});

/** Keys fetched over plain http can be forged by any machine on the path. */
/** If `settings` is missing altogether, each missing key is reported. */
function provider<Type extends string, Settings extends z.ZodObject>(
  type: Type,
  about: string,
  settings: Settings,
) {
  return z.object({
    type: z.literal(type).describe(about),
    name: name.optional().meta({
      description: 'Name of the provider on the card and in the log; its type if omitted.',
      example: 'staff',
    }),
    settings: settings.prefault({} as z.input<Settings>).describe('Settings of the provider.'),
  });
}

/** A provider whose tokens may name groups. */
function claimsProvider<Type extends string, Settings extends z.ZodObject>(
  type: Type,
  about: string,
  settings: Settings,
) {
  return provider(type, about, settings).extend({ groups_claim: groupsClaim });
}
