import {
  type CallToolRequest,
  type CallToolResult,
  type jsonSchemaValidator,
  type RequestId,
  Server,
  type ServerContext,
  type Transport,
  type WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Task } from '../../machines/domain/task.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { type OutcomeMark, outcomeMethod } from '../../machines/task/wait-mark.ts';
import { wasHeld } from '../../machines/task/was-held.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import type { RequestState } from '../request-state.ts';
import { fieldOf } from '../wire/field-of.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import type { CallExtra, CallPorts, McpRequest } from './call-ports.ts';
import { sendProgress } from './call-progress.ts';
import { type CallForm, callTool, received } from './call-tool.ts';
import { type Era, statedAbilities, tasksExtension } from './client-abilities.ts';
import { recordLink } from './decision-link.ts';
import { calledIn, type McpCall, readCall } from './mcp-call.ts';
import type { McpFace } from './mcp-face.ts';
import { type CallAnswer, presentCall } from './present-call.ts';
import { serveTasks } from './task-methods.ts';
import { howToAskFor, offersTaskResult, taskResultName } from './task-result-tool.ts';
import type { ToolListing } from './tool-listing.ts';
import { waitForCall } from './wait-for-call.ts';

/** The parts that every message uses. */
export interface McpServing {
  face: McpFace;
  ports: CallPorts;
  listing: ToolListing;
}

/**
 * The server sends no request whose answer has a schema. By default, the SDK would create a schema compiler for each
 * message.
 */
const noSchemas: jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false, data: undefined, errorMessage: 'was not asked for' }),
};

const capabilities = {
  legacy: {
    tools: { listChanged: true },
    tasks: { cancel: {}, requests: { tools: { call: {} } } },
  },
  modern: { tools: { listChanged: true }, extensions: { [tasksExtension]: {} } },
};

/**
 * Creates the MCP server for one message. It lists the agent's tools and runs each call as a task. The message is bound
 * to its HTTP request, so its sender has only that request's permissions.
 */
export function mcpServer(
  { face, ports, listing }: McpServing,
  request: McpRequest,
  era: Era,
): Server {
  const { agentId: name, version } = face;
  const options = { capabilities: capabilities[era], jsonSchemaValidator: noSchemas };
  const server = new TaskServer({ name, version }, options);
  server.setRequestHandler('tools/list', () => ({
    tools: listing.tools(request.state.caller, era),
  }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    // A stream of MCP 2026-07-28 is closed for each reason to stop.
    const isClosed = () => era === 'modern' || server.transport === undefined;
    try {
      if (params.name === taskResultName && offersTaskResult(face)) {
        const asked = { args: params.arguments, extra: mcpReq };
        return (await taskResult(face, ports, request, asked)) as CallToolResult;
      }
      const call = await repeatedCall(request.state.tasks, readCall(params), mcpReq);
      const extra = { ...mcpReq, isClosed, form: formOf(params, mcpReq, era) };
      return (await callTool(face, ports, request, call, extra)) as CallToolResult;
    } finally {
      if (mcpReq.signal.aborted) endStream(server.transport, mcpReq.id);
    }
  });
  serveTasks(server, { face, ports, request }, era);
  server.setRequestHandler(outcomeMethod, outcomeSchemas, async (params, { mcpReq }) => {
    const { tasks } = request.state;
    await tasks.find(params.task_id);
    return outcomeOf(await tasks.settled(params.task_id, mcpReq.signal));
  });
  return server;
}

const outcomeSchemas = { params: z.looseObject({ task_id: z.string() }) };

/** The SDK adds an empty `content` to every result of a call; a task has none. */
class TaskServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => send(withoutContent(message), options);
    await super.connect(transport);
  }
}

function withoutContent(message: Parameters<Transport['send']>[0]): typeof message {
  if (!('result' in message)) return message;
  const { content, ...task } = message.result;
  const isTask =
    task['resultType'] === 'task' || (task['task'] !== undefined && content !== undefined);
  return isTask ? { ...message, result: task } : message;
}

/** Returns the early answer that the client of a call understands. */
function formOf(
  params: CallToolRequest['params'],
  mcpReq: ServerContext['mcpReq'],
  era: Era,
): CallForm {
  if (era === 'legacy') return params.task === undefined ? 'text' : 'legacyTask';
  const { tasks, links } = statedAbilities(mcpReq);
  if (tasks) return 'task';
  return links ? 'link' : 'text';
}

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
  (transport as WebStandardStreamableHTTPServerTransport | undefined)?.closeSSEStream?.(id);
  transport?.send({ jsonrpc: '2.0', id, result: {} }).catch(() => undefined);
}

/**
 * Returns a call as sent, or bound to its waiting task if the client sends it again after it showed the address of the
 * page (MCP 2026-07-28). Rejects with RpcError for a state that belongs to no call of the caller.
 */
async function repeatedCall(
  tasks: CallerTasks,
  call: McpCall,
  { requestState, inputResponses = {} }: ServerContext['mcpReq'],
): Promise<McpCall> {
  const taskId = requestState();
  if (taskId === undefined) return call;
  const task = isTaskId(taskId) ? await tasks.findOwn(taskId) : undefined;
  if (task === undefined) {
    throw new RpcError(rpcCodes.invalidParams, 'requestState belongs to no call; leave it out');
  }
  await recordLink(tasks, task, Object.keys(inputResponses));
  return { ...call, taskId: task.id, isRetry: true };
}

/** Waits for a call of the same caller that was answered while held. Rejects like `waitForCall`. */
async function taskResult(
  face: McpFace,
  ports: CallPorts,
  { state, gone }: { state: RequestState; gone: AbortSignal },
  { args, extra }: { args: unknown; extra: CallExtra },
): Promise<CallAnswer> {
  const id = fieldOf(args, 'task_id');
  const found = isTaskId(id) ? await state.tasks.findOwn(id) : undefined;
  const call = found && calledIn(found);
  if (found === undefined || call === null || call === undefined) {
    const text = 'there is no call with this task_id; take the one that the call was answered with';
    return { content: [{ type: 'text', text }], isError: true, _meta: { task_id: String(id) } };
  }
  const rest = sendProgress(ports.beats, state.tasks, found.id, extra);
  const limit = extra._meta?.progressToken === undefined ? face.answerWithin || null : null;
  const signal = AbortSignal.any([gone, extra.signal]);
  const patience = { clock: ports.clock, held: null, running: limit };
  const leave = ports.waiting.enter(found.id);
  const task = await waitForCall(state.tasks, found.id, signal, patience).finally(() => {
    leave();
    rest();
  });
  if (!signal.aborted) await received(state, task, call, ports.log);
  return presentCall(task, ({ id: asked }) => howToAskFor(face, asked));
}
