import type { McpServers, McpServersParts } from './mcp-servers.ts';

export type { McpServers } from './mcp-servers.ts';

const none: McpServers = {
  tried: async () => undefined,
  onChange: () => undefined,
  stop: async () => undefined,
};

/**
 * Begins to connect the MCP servers of an agent, whose tools become the agent's as they come. The packages that speak
 * MCP are loaded for an agent that has servers, and for no other.
 */
export async function openMcpServers(parts: McpServersParts): Promise<McpServers> {
  if (parts.servers.length === 0) return none;
  const { connectMcpServers } = await import('./mcp-servers.ts');
  return connectMcpServers(parts);
}
