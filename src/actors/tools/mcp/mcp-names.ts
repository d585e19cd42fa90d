import type { McpServerSettings } from './server-settings.ts';

/** Returns the agent's name for a server's tool (docs/contract/models.md). */
export function mcpToolName(server: string, tool: string): string {
  return `${server}__${tool}`;
}

/** Returns the names of tools that the settings of MCP servers list, whether or not they exist. */
export function namedMcpTools(
  servers: readonly Pick<McpServerSettings, 'name' | 'tools'>[],
): string[] {
  return servers.flatMap(({ name, tools }) =>
    (tools.allow ?? []).map((tool) => mcpToolName(name, tool)),
  );
}

/** Returns whether a name may belong to a tool of a configured server. */
export function isMcpToolName(
  tool: string,
  servers: readonly Pick<McpServerSettings, 'name'>[],
): boolean {
  return servers.some(({ name }) => tool.startsWith(mcpToolName(name, '')));
}

/** Returns the server whose prefix a tool name has, regardless of its settings; `undefined` for none. */
export function serverPrefixOf<Server extends Pick<McpServerSettings, 'name'>>(
  tool: string,
  servers: readonly Server[],
): Server | undefined {
  return servers.find(({ name }) => tool.startsWith(mcpToolName(name, '')));
}

/** Returns whether the settings include a server's tool. */
export function isWanted({ tools }: Pick<McpServerSettings, 'tools'>, tool: string): boolean {
  return tools.allow?.includes(tool) ?? !(tools.deny ?? []).includes(tool);
}

/** Returns the name of the server to which a tool may belong according to the settings; `undefined` for none. */
export function serverOfTool(
  tool: string,
  servers: readonly Pick<McpServerSettings, 'name' | 'tools'>[],
): string | undefined {
  return servers.find((server) => {
    const prefix = mcpToolName(server.name, '');
    return tool.startsWith(prefix) && isWanted(server, tool.slice(prefix.length));
  })?.name;
}
