import { tokenIssuers } from '../../actors/access/access.ts';
import type { ServiceConfig } from '../../actors/config/config.ts';
import type { ProtectedResource } from '../../http/wire/protected-resource.ts';

/**
 * Returns the MCP endpoint as clients request tokens for it (RFC 8707); `null` without a public URL, which identifies it,
 * or without an issuer.
 */
export function mcpResource({ agent_id, server, auth }: ServiceConfig): ProtectedResource | null {
  const issuers = tokenIssuers(auth.providers);
  if (server.mcp === false || server.public_url === '' || issuers.length === 0) return null;
  const url = `${server.public_url.replace(/\/+$/, '')}/mcp`;
  return { url, name: agent_id, issuers, scopes: server.mcp.scopes };
}
