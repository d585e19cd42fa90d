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

const longestSkew = 300_000;

const oidcSettings = z.object({
  /** Compared character by character with the `iss` of a token. */
  issuer: issuerUrl,
  audience: z
    .union([name, z.array(name).min(1)], { error: 'this must be a name or a list of names' })
    .optional(),
  client_id: name.optional(),
  jwks_url: issuerUrl.optional(),
  jwks_cache_ttl: positiveDuration.prefault('1h'),
  clock_skew: duration
    .refine((milliseconds) => milliseconds <= longestSkew, {
      error: 'the clocks may differ by at most 5m; set the clock right instead',
    })
    .prefault('30s'),
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

const oidc = z.object({
  type: z.literal('oidc'),
  name: name.optional(),
  settings: oidcSettings.prefault({} as z.input<typeof oidcSettings>),
});

const otherProvider = z.object({
  type: z.enum(['http_verifier', 'directory_ad', 'cloud_iap', 'cloud_sigv4']),
  name: name.optional(),
  settings: jsonObject.default({}),
});

/** `auth`; a provider without a name is called by its type (contract section 12). */
export const authSchema = z.object({
  required: z.boolean().default(false),
  providers: z
    .array(
      z
        .discriminatedUnion('type', [staticToken, oidc, otherProvider])
        .transform((provider) => ({ ...provider, name: provider.name ?? provider.type })),
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
