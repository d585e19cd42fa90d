import type { McpServerSettings } from './server-settings.ts';

/** Returns the name under which the agent has a tool of a server (docs/contract/models.md). */
export function mcpToolName(server: string, tool: string): string {
  return `${server}__${tool}`;
}

/** Returns the names of the tools that the settings of MCP servers name, whether the servers have them or not. */
export function namedMcpTools(
  servers: readonly Pick<McpServerSettings, 'name' | 'tools'>[],
): string[] {
  return servers.flatMap(({ name, tools }) =>
    (tools.allow ?? []).map((tool) => mcpToolName(name, tool)),
  );
}

/** Tells whether a name is one that a tool of a configured server may have. */
export function isMcpToolName(
  tool: string,
  servers: readonly Pick<McpServerSettings, 'name'>[],
): boolean {
  return servers.some(({ name }) => tool.startsWith(mcpToolName(name, '')));
}

/** Returns the server whose tool a name is meant to be, whatever the settings want of it; `undefined` for none. */
export function serverPrefixOf<Server extends Pick<McpServerSettings, 'name'>>(
  tool: string,
  servers: readonly Server[],
): Server | undefined {
  return servers.find(({ name }) => tool.startsWith(mcpToolName(name, '')));
}

/** Tells whether the agent has a tool of a server, as the settings say. */
export function isWanted({ tools }: Pick<McpServerSettings, 'tools'>, tool: string): boolean {
  return tools.allow?.includes(tool) ?? !(tools.deny ?? []).includes(tool);
}

/** Returns the name of the server whose tool this may be, as the settings say; `undefined` when it is of none. */
export function serverOfTool(
  tool: string,
  servers: readonly Pick<McpServerSettings, 'name' | 'tools'>[],
): string | undefined {
  return servers.find((server) => {
    const prefix = mcpToolName(server.name, '');
    return tool.startsWith(prefix) && isWanted(server, tool.slice(prefix.length));
  })?.name;
}
