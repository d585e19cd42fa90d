import type { ServiceConfig } from '../../actors/config/config.ts';
import { mcpToolName, SeenTools, SeenToolsError } from '../../actors/tools/tools.ts';

/**
 * The tools that each MCP server offered last, under their names in the agent. `null` for a server that has never been
 * reached.
 */
export type McpToolsSeen = ReadonlyMap<string, readonly string[] | null>;

/** Reads the stored tool lists of an agent's MCP servers. Treats unreadable lists as never seen. */
export function mcpToolsSeen(directory: string, { mcp }: Pick<ServiceConfig, 'mcp'>): McpToolsSeen {
  const seen = new SeenTools(directory);
  return new Map(mcp.servers.map(({ name }) => [name, toolsOf(seen, name)]));
}

function toolsOf(seen: SeenTools, server: string): string[] | null {
  try {
    const tools = seen.toolsOf(server);
    return (
      tools
        ?.filter(({ offered }) => offered !== null)
        .map(({ name }) => mcpToolName(server, name)) ?? null
    );
  } catch (error) {
    if (error instanceof SeenToolsError) return null;
    throw error;
  }
}
