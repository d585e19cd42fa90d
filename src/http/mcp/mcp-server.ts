import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import * as z from 'zod';
import type { Tool } from '../../actors/ports.ts';
import type { Task } from '../../machines/task/task.ts';
import { type OutcomeMark, outcomeMethod } from '../../machines/task/wait-mark.ts';
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
  /** Returns a key of the agent by its purpose; all daemons over one store have the same. */
  key: (purpose: string) => Promise<Buffer>;
}

/** Clients are asked nothing whose answer has a schema; the SDK would make a compiler of schemas for each session. */
const noSchemas: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'was not asked for' }),
};

/**
 * Makes the server of one message: it lists the tools of the agent, and makes each call a task. The message comes with the
 * request that it came in, as whoever sent it may do no more than that request.
 */
export function mcpServer(
  face: Pick<McpFace, 'agentId' | 'version' | 'tools'>,
  ports: CallPorts,
): Server {
  const { agentId: name, version, tools } = face;
  const server = new Server(
    { name, version },
    { capabilities: { tools: { listChanged: true } }, jsonSchemaValidator: noSchemas },
  );
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
      if (extra.signal.aborted) endStream(server.transport, extra.requestId);
    }
  });
  server.setRequestHandler(outcomeRequest, async ({ params }, extra) => {
    const request = extra.authInfo?.extra as unknown as McpRequest;
    return outcomeOf(await request.state.tasks.settled(params.task_id, extra.signal));
  });
  return server;
}

const outcomeRequest = z.object({
  method: z.literal(outcomeMethod),
  params: z.looseObject({ task_id: z.string() }),
});

/** A call that was held and that nobody released has not run. */
function outcomeOf({ state, records, settled }: Task): OutcomeMark {
  const wasHeld = records.some(({ decision }) => decision === 'defer');
  const isReleased = settled?.decision === 'approve';
  return { state, ran: state !== 'completed' && wasHeld && !isReleased ? false : null };
}

/**
 * Ends the stream of a call that was called off, which the SDK answers nothing and leaves open; what it remembers of the
 * call it forgets by an answer that has no stream.
 */
function endStream(transport: Transport | undefined, id: RequestId): void {
  (transport as WebStandardStreamableHTTPServerTransport | undefined)?.closeSSEStream(id);
  transport?.send({ jsonrpc: '2.0', id, result: {} }).catch(() => undefined);
}
