import * as z from 'zod';
import { jsonObject, name, variableName } from './schema-value.ts';

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

const otherProvider = z.object({
  type: z.enum(['http_verifier', 'oidc', 'directory_ad', 'cloud_iap', 'cloud_sigv4']),
  name: name.optional(),
  settings: jsonObject.default({}),
});

/** `auth`; a provider without a name is called by its type (contract section 12). */
export const authSchema = z.object({
  required: z.boolean().default(false),
  providers: z
    .array(
      z
        .discriminatedUnion('type', [staticToken, otherProvider])
        .transform((provider) => ({ ...provider, name: provider.name ?? provider.type })),
    )
    .default([]),
});
