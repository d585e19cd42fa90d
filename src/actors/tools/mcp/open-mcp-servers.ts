import type { McpServers, McpServersParts } from './mcp-servers.ts';
import { movedCall } from './moved-call.ts';

import { SeenTools } from './seen-tools.ts';
import { SharedPins } from './shared-pins.ts';

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
  const hasAuth = parts.servers.some(({ auth }) => auth !== undefined);
  const opened = hasAuth ? await import('./auth/open-server-auth.ts') : null;
  return connectMcpServers(parts, {
    ...(opened === null ? {} : { authOf: opened.openServerAuth(parts) }),
    pins: await loadPins(parts),
  });
}

/** Loads the accepted tools of all daemons over the store; `null` for a single daemon. */
async function loadPins({
  pins: records,
  agentDirectory,
  clock,
  log,
}: McpServersParts): Promise<SharedPins | null> {
  if (records === undefined) return null;
  const pins = new SharedPins({ records, seen: new SeenTools(agentDirectory), clock, log });
  await pins.load();
  return pins;
}
