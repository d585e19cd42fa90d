import type { ServiceConfig } from '../../actors/config/config.ts';
import { namedMcpTools, serverOfTool, type Toolbox } from '../../actors/tools/tools.ts';
import type { McpToolsSeen } from '../start/mcp-tools-seen.ts';

/**
 * Returns an agent's tools by name: its own tools, the enabled tools that its MCP servers offered last, and the tools
 * listed in `allow`, whether they exist or not.
 */
export function namedTools(
  { mcp }: Pick<ServiceConfig, 'mcp'>,
  { tools }: Pick<Toolbox, 'tools'>,
  seen: McpToolsSeen,
): string[] {
  const offered = [...seen.values()].flatMap((names) => names ?? []);
  const wanted = offered.filter((name) => serverOfTool(name, mcp.servers) !== undefined);
  return [...new Set([...tools.keys(), ...wanted, ...namedMcpTools(mcp.servers)])];
}
