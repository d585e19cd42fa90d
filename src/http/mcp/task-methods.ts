import {
  MissingRequiredClientCapabilityError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import type { CallPorts, McpRequest } from './call-ports.ts';
import { sendProgress } from './call-progress.ts';
import {
  presentLegacyTask,
  presentModernTask,
  presentTaskResult,
  type TaskView,
} from './call-task.ts';
import { received } from './call-tool.ts';
import { type Era, statedAbilities, tasksExtension } from './client-abilities.ts';
import { decisionLink, recordLink, sendLink } from './decision-link.ts';
import { calledIn, type McpCall } from './mcp-call.ts';
import type { McpFace } from './mcp-face.ts';

const named = { params: z.looseObject({ taskId: z.string() }) };

/** A call of the caller as a task. */
interface FoundCall {
  task: Task;
  call: Pick<McpCall, 'tool' | 'args'>;
}

/** What serves the requests of one client for its tasks. */
export interface TaskParts {
  face: McpFace;
  ports: CallPorts;
  request: McpRequest;
}

/**
 * Serves the requests for calls as tasks: `tasks/get` and `tasks/cancel`, with `tasks/result` for MCP 2025-11-25 and
 * `tasks/update` for MCP 2026-07-28. A call is found only by its caller.
 */
export function serveTasks(server: Server, parts: TaskParts, era: Era): void {
  if (era === 'legacy') serveLegacy(server, parts);
  else serveModern(server, parts);
}

function serveLegacy(server: Server, { face, ports, request }: TaskParts): void {
  const { state, opensLinks: links } = request;
  const view = (): TaskView => ({ face, now: ports.clock.now(), links });
  server.setRequestHandler('tasks/get', named, async ({ taskId }) =>
    presentLegacyTask((await callOf(request, taskId)).task, view()),
  );
  server.setRequestHandler('tasks/cancel', named, async ({ taskId }) => {
    const { task } = await callOf(request, taskId);
    if (isFinal(task.state)) {
      throw new RpcError(rpcCodes.invalidParams, 'the task has ended and cannot be canceled');
    }
    const canceled = await state.tasks.cancel(task.id, readCancelReason(null));
    return presentLegacyTask(canceled ?? task, view());
  });
  server.setRequestHandler('tasks/result', named, async ({ taskId }, { mcpReq }) => {
    const { task, call } = await callOf(request, taskId);
    const rest = sendProgress(ports.beats, state.tasks, task.id, mcpReq);
    const signal = AbortSignal.any([request.gone, mcpReq.signal]);
    const link = links ? decisionLink(task, face) : null;
    if (link !== null) sendLink(server, link, { taskId, requestId: mcpReq.id });
    const ended = await state.tasks.settled(task.id, signal).finally(rest);
    await received(state, ended, call, ports.log);
    return presentTaskResult(ended, face);
  });
}

function serveModern(server: Server, { face, ports, request }: TaskParts): void {
  const { state } = request;
  server.setRequestHandler('tasks/get', named, async ({ taskId }, { mcpReq }) => {
    const { links } = checkedAbilities(mcpReq);
    const { task, call } = await callOf(request, taskId);
    await received(state, task, call, ports.log);
    return presentModernTask(task, { face, now: ports.clock.now(), links });
  });
  server.setRequestHandler('tasks/cancel', named, async ({ taskId }, { mcpReq }) => {
    checkedAbilities(mcpReq);
    const { task } = await callOf(request, taskId);
    await state.tasks.cancel(task.id, readCancelReason(null));
    return {};
  });
  server.setRequestHandler('tasks/update', named, async ({ taskId }, { mcpReq }) => {
    checkedAbilities(mcpReq);
    const { inputResponses } = mcpReq;
    if (inputResponses === undefined) {
      throw new RpcError(rpcCodes.invalidParams, 'inputResponses is missing');
    }
    const { task } = await callOf(request, taskId);
    await recordLink(state.tasks, task, Object.keys(inputResponses));
    return {};
  });
}

/** Finds a call of the caller. Rejects with RpcError; the calls of others are unknown. */
async function callOf({ state }: McpRequest, id: string): Promise<FoundCall> {
  const task = isTaskId(id) ? await state.tasks.findOwn(id) : undefined;
  const call = task === undefined ? null : calledIn(task);
  if (task !== undefined && call !== null) return { task, call };
  const text = 'there is no task with this taskId; send the one that the call was answered with';
  throw new RpcError(rpcCodes.invalidParams, text);
}

function checkedAbilities(mcpReq: ServerContext['mcpReq']): { links: boolean } {
  const { tasks, links } = statedAbilities(mcpReq);
  if (tasks) return { links };
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
}
