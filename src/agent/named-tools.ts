import type { ServiceConfig } from '../actors/config/config.ts';
import { namedMcpTools, type Toolbox } from '../actors/tools/tools.ts';

/** Returns the tools of an agent by name: its own, and those of MCP servers that `allow` lists, whether they are there or not. */
export function namedTools(
  { mcp }: Pick<ServiceConfig, 'mcp'>,
  { tools }: Pick<Toolbox, 'tools'>,
): string[] {
  return [...new Set([...tools.keys(), ...namedMcpTools(mcp.servers)])];
}
