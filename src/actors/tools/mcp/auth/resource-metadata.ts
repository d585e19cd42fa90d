import * as z from 'zod';
import { parseJson } from '../../../../machines/json.ts';
import { ServerFault } from '../server-fault.ts';

/** What a server says of its issuer and tokens (RFC 9728). */
export interface ResourceMetadata {
  issuer: string;
  scopes: readonly string[];
}

const metadataSchema = z.looseObject({
  resource: z.string(),
  authorization_servers: z.array(z.string()).min(1),
  scopes_supported: z.array(z.string().max(200)).max(100).optional(),
});

type Fetch = (url: string, options: object) => Promise<Response>;

/**
 * Reads the metadata of a server: at the address that its refusal named, if that is on the server's origin, and else at
 * the well-known ones. A server without metadata is its own issuer. Rejects with ServerFault for metadata of another
 * resource, and for an issuer that is not https.
 */
export async function readResourceMetadata(
  server: URL,
  named: string | null,
  fetchIt: Fetch,
): Promise<ResourceMetadata> {
  for (const address of addressesOf(server, named)) {
    const response = await fetchIt(address, { headers: { accept: 'application/json' } });
    if (!response.ok) continue;
    const { data, success } = metadataSchema.safeParse(parseJson(await response.text()));
    if (!success) throw new ServerFault('has metadata that do not follow RFC 9728', lasting);
    if (!isOf(server, data.resource)) {
      throw new ServerFault('has metadata of another resource', lasting);
    }
    const [issuer = ''] = data.authorization_servers;
    return { issuer: checkedIssuer(server, issuer), scopes: data.scopes_supported ?? [] };
  }
  return { issuer: server.origin, scopes: [] };
}

const lasting = { isLasting: true, isUnsent: true };

function addressesOf(server: URL, named: string | null): string[] {
  const path = '/.well-known/oauth-protected-resource';
  const own = URL.parse(named ?? '')?.origin === server.origin && named !== null ? [named] : [];
  return [...own, `${server.origin}${path}${server.pathname}`, `${server.origin}${path}`];
}

/** Returns whether a resource is the server, or a path above it on its origin. */
function isOf(server: URL, resource: string): boolean {
  const url = URL.parse(resource);
  if (url === null || url.origin !== server.origin) return false;
  const above = url.pathname.replace(/\/*$/, '/');
  return `${server.pathname.replace(/\/*$/, '')}/`.startsWith(above);
}

function checkedIssuer(server: URL, issuer: string): string {
  const url = URL.parse(issuer);
  if (url !== null && (url.protocol === 'https:' || url.origin === server.origin)) return issuer;
  throw new ServerFault('names an issuer that is not https', lasting);
}
