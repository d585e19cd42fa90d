import type { z } from 'zod';
import { mcpServerList } from '../mcp-server.ts';
import { type Lenient, lenient } from '../relaxed.ts';

const agentServers = lenient(mcpServerList);

/** Response of `GET /api/agents/{id}/mcp`. */
export type McpServersJson = Lenient<z.output<typeof mcpServerList>>;

export type McpServerJson = McpServersJson['servers'][number];
export type McpToolJson = NonNullable<McpServerJson['tools']>[number];

/** Reads the MCP servers that an agent lists; `null` if they are invalid. The agent is not trusted. */
export function readMcpServers(json: unknown): McpServersJson | null {
  return agentServers.safeParse(json).data ?? null;
}
