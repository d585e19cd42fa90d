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
import type { Task } from '../../machines/domain/task.ts';
import { type OutcomeMark, outcomeMethod } from '../../machines/task/wait-mark.ts';
import { wasHeld } from '../../machines/task/was-held.ts';
import type { CallPorts, McpRequest } from './call-ports.ts';
import { callTool } from './call-tool.ts';
import { readCall } from './mcp-call.ts';
import type { McpFace } from './mcp-face.ts';
import { taskResult } from './task-result.ts';
import { offersTaskResult, taskResultName } from './task-result-tool.ts';
import type { ToolListing } from './tool-listing.ts';

/**
 * The server sends no request whose answer has a schema. By default, the SDK would create a schema compiler for each
 * session.
 */
const noSchemas: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'was not asked for' }),
};

/**
 * Creates the MCP server for one message. It lists the agent's tools and runs each call as a task. The message is bound
 * to its HTTP request, so its sender has only that request's permissions.
 */
export function mcpServer(face: McpFace, ports: CallPorts, listing: ToolListing): Server {
  const { agentId: name, version } = face;
  const server = new Server(
    { name, version },
    { capabilities: { tools: { listChanged: true } }, jsonSchemaValidator: noSchemas },
  );
  server.setRequestHandler(ListToolsRequestSchema, (_, extra) => {
    const request = extra.authInfo?.extra as unknown as McpRequest;
    return { tools: listing.tools(request.state.caller) };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const request = extra.authInfo?.extra as unknown as McpRequest;
    const isClosed = () => server.transport === undefined;
    try {
      if (params.name === taskResultName && offersTaskResult(face)) {
        return await taskResult(face, ports, request, { args: params.arguments, extra });
      }
      return await callTool(face, ports, request, readCall(params), { ...extra, isClosed });
    } finally {
      if (extra.signal.aborted) endStream(server.transport, extra.requestId);
    }
  });
  server.setRequestHandler(outcomeRequest, async ({ params }, extra) => {
    const request = extra.authInfo?.extra as unknown as McpRequest;
    const { tasks } = request.state;
    await tasks.find(params.task_id);
    return outcomeOf(await tasks.settled(params.task_id, extra.signal));
  });
  return server;
}

const outcomeRequest = z.object({
  method: z.literal(outcomeMethod),
  params: z.looseObject({ task_id: z.string() }),
});

/** A held call that was not released has not run. */
function outcomeOf(task: Task): OutcomeMark {
  const { state, settled } = task;
  const isReleased = settled?.decision === 'approve';
  return { state, ran: state !== 'completed' && wasHeld(task) && !isReleased ? false : null };
}

/**
 * Ends the stream of a cancelled call, which the SDK would leave open without a response. An answer without a stream
 * makes the SDK discard its state for the call.
 */
function endStream(transport: Transport | undefined, id: RequestId): void {
  (transport as WebStandardStreamableHTTPServerTransport | undefined)?.closeSSEStream(id);
  transport?.send({ jsonrpc: '2.0', id, result: {} }).catch(() => undefined);
}
