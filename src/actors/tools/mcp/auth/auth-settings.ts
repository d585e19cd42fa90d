/** How the agent signs in to an MCP server (docs/mcp.md). */
export interface ServerAuthSettings {
  type: 'client_credentials' | 'authorization_code';
  /** Absent for a client that is registered at the first sign-in. */
  client_id?: string | undefined;
  client_secret?: string | undefined;
  scopes: readonly string[];
  /** Issuer of the tokens; the server names it when absent. */
  issuer?: string | undefined;
  /** The resource for which tokens are requested; the URL of the server when absent. */
  resource?: string | undefined;
}
