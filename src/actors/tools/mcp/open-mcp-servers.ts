import type { McpServers, McpServersParts } from './mcp-servers.ts';
import { movedCall } from './moved-call.ts';

export type { McpServers } from './mcp-servers.ts';

const none: McpServers = {
  tried: async () => undefined,
  onChange: () => undefined,
  calls: { follow: (tool) => Promise.reject(movedCall(tool)) },
  states: () => [],
  accept: () => false,
  signIns: () => null,
  stop: async () => undefined,
};

/**
 * Starts connecting the MCP servers of an agent and adds their tools as they arrive. The MCP packages are loaded only
 * for an agent with servers.
 */
export async function openMcpServers(parts: McpServersParts): Promise<McpServers> {
  if (parts.servers.length === 0) return none;
  const { connectMcpServers } = await import('./mcp-servers.ts');
  if (parts.servers.every(({ auth }) => auth === undefined)) return connectMcpServers(parts);
  const { openServerAuth } = await import('./auth/open-server-auth.ts');
  return connectMcpServers(parts, openServerAuth(parts));
}
