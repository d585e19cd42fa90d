import type { ServiceConfig } from '../actors/config/config.ts';
import { namedMcpTools, serverOfTool, type Toolbox } from '../actors/tools/tools.ts';
import type { McpToolsSeen } from './mcp-tools-seen.ts';

/**
 * Returns the tools of an agent by name: its own, those that its MCP servers offered last and the settings want, and those
 * that `allow` lists, whether they are there or not.
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
