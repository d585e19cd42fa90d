import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { Tool } from '../../actors/ports.ts';
import { type CallPorts, callTool, type McpRequest } from './call-tool.ts';
import { readCall } from './mcp-call.ts';

/** The face of an agent as MCP clients see it. */
export interface McpFace {
  agentId: string;
  version: string;
  /** The tools of the agent as they are now. */
  tools: () => readonly Pick<Tool, 'name' | 'description' | 'parameters'>[];
  /** Has a listener hear whenever they have changed. */
  onToolsChanged: (listener: () => void) => void;
}

/**
 * Makes the server of one session: it lists the tools of the agent, and makes each call a task. Messages come with
 * the request that they came in, as whoever sent them may do no more than that request.
 */
export function mcpServer(face: Omit<McpFace, 'onToolsChanged'>, ports: CallPorts): Server {
  const { agentId: name, version, tools } = face;
  const server = new Server({ name, version }, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools().map(({ name: tool, description, parameters }) => ({
      name: tool,
      description,
      inputSchema: { ...parameters, type: 'object' as const },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const request = extra.authInfo?.extra as unknown as McpRequest;
    const isClosed = () => server.transport === undefined;
    try {
      return await callTool(ports, request, readCall(params), { ...extra, isClosed });
    } finally {
      // The SDK answers nothing to what was called off, and leaves its stream open.
      if (extra.signal.aborted) extra.closeSSEStream?.();
    }
  });
  return server;
}
