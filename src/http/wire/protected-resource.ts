import { z } from 'zod';

/** Metadata of the MCP endpoint as an OAuth protected resource (RFC 9728). */
export const resourceMetadata = z
  .object({
    resource: z.url(),
    resource_name: z.string(),
    authorization_servers: z.array(z.string()),
    scopes_supported: z.array(z.string()).optional(),
    bearer_methods_supported: z.tuple([z.literal('header')]),
  })
  .meta({ id: 'ProtectedResource' });

/** The MCP endpoint as clients request tokens for it. */
export interface ProtectedResource {
  /** Its identifier: the public URL of the endpoint. */
  url: string;
  name: string;
  /** Issuers whose tokens are accepted. */
  issuers: readonly string[];
  /** Scopes that clients request. */
  scopes: readonly string[];
}

/** Path of the metadata; the root form has no suffix. */
export const metadataPath = '/.well-known/oauth-protected-resource';

/** Formats the metadata of a resource. */
export function presentResource({
  url,
  name,
  issuers,
  scopes,
}: ProtectedResource): z.input<typeof resourceMetadata> {
  return {
    resource: url,
    resource_name: name,
    authorization_servers: [...issuers],
    ...(scopes.length === 0 ? {} : { scopes_supported: [...scopes] }),
    bearer_methods_supported: ['header'],
  };
}

/**
 * Returns the challenge of a refused request to the resource, which leads clients to its metadata. `isInvalid` is true
 * for a token that was sent and refused.
 */
export function resourceChallenge(
  { url, scopes }: Pick<ProtectedResource, 'url' | 'scopes'>,
  isInvalid: boolean,
): string {
  const metadata = url.replace(/\/mcp$/, `${metadataPath}/mcp`);
  return [
    `Bearer resource_metadata="${metadata}"`,
    ...(scopes.length === 0 ? [] : [`scope="${scopes.join(' ')}"`]),
    ...(isInvalid ? ['error="invalid_token"'] : []),
  ].join(', ');
}
