import type { ServiceConfig } from '../actors/config/config.ts';
import { mcpToolName, SeenTools, SeenToolsError } from '../actors/tools/tools.ts';

/** The tools that MCP servers offered last, by the server, under the names that the agent has for them; `null` for a server that it has never reached. */
export type McpToolsSeen = ReadonlyMap<string, readonly string[] | null>;

/** Reads what an agent knows of the tools of its MCP servers; what cannot be read counts as never seen. */
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
