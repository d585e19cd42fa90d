import { isDeepStrictEqual } from 'node:util';
import type { TaskRequest } from '../../actors/tasks/tasks.ts';
import type { Message, Task } from '../../machines/domain/task.ts';
import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import { separateMark } from '../../machines/task/wait-mark.ts';
import { wasHeld } from '../../machines/task/was-held.ts';
import { openCallFor, openTaskFor } from '../open-task.ts';
import type { RequestState } from '../request-state.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import { isNewTaskId } from '../wire/task-request.ts';

/** A `tools/call` request. */
export interface McpCall {
  tool: string;
  args: JsonObject;
  /** The task named in `_meta.task_id`; `null` for a new one. */
  taskId: string | null;
  /** True for a call that must not join an equal waiting call. */
  isSeparate: boolean;
  /** True for the retry of a request that was answered with an address to show; it is no further request. */
  isRetry?: true;
}

/** A started or existing call. */
export interface BegunCall {
  id: string;
  /** True if an equal call of the same caller was already waiting. */
  isJoined: boolean;
}

export interface BeginningParts {
  newMessageId: () => string;
  signal: AbortSignal;
  /** Identifies the request to other daemons; absent for a request without a session. */
  alias?: string | undefined;
}

/** Reads the params of a `tools/call`. Throws RpcError. */
export function readCall(params: {
  name: string;
  arguments?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
}): McpCall {
  const taskId = params._meta?.['task_id'] ?? null;
  if (taskId !== null && !isNewTaskId(taskId)) {
    throw new RpcError(rpcCodes.invalidParams, '_meta.task_id is not the id of a task');
  }
  const separate = params._meta?.[separateMark] ?? false;
  if (typeof separate !== 'boolean') {
    throw new RpcError(rpcCodes.invalidParams, `_meta["${separateMark}"] must be true or false`);
  }
  const args = (params.arguments ?? {}) as JsonObject;
  return { tool: params.name, args, taskId, isSeparate: separate };
}

/**
 * Starts a call or finds an existing one: the caller's task named by the client, or the same caller's equal waiting
 * call. Rejects with RpcError for a task that is a different call or belongs to another caller, with SystemError, and
 * with the reason of the signal.
 */
export async function beginCall(
  state: RequestState,
  call: McpCall,
  { newMessageId, signal, alias }: BeginningParts,
): Promise<BegunCall> {
  const { tool, args, taskId, isSeparate, isRetry = false } = call;
  const data = { tool, args };
  const known = taskId === null ? undefined : await state.tasks.find(taskId);
  if (known !== undefined) {
    const isOwn = (await state.tasks.findOwn(known.id)) !== undefined;
    if (isOwn && isDeepStrictEqual(calledIn(known), data)) return findAgain(state, known, isRetry);
    throw new RpcError(
      rpcCodes.invalidParams,
      `task ${known.id} is another call; leave _meta.task_id out`,
    );
  }
  const message: Message = {
    role: 'user',
    parts: [{ kind: 'data', data }],
    messageId: newMessageId(),
  };
  const asked = { message, surface: 'mcp', ...(alias === undefined ? {} : { alias }) } as const;
  if (taskId === null && !isSeparate) return joinCall(state, data, asked, signal);
  const request = { ...asked, ...(taskId === null ? {} : { id: taskId }), calls: [data] };
  return { id: await openTaskFor(state, request), isJoined: false };
}

/** Counts a request for a waiting call. From then on, the call continues when a single client disconnects. */
async function findAgain(
  { tasks }: RequestState,
  { id, state }: Task,
  isRetry: boolean,
): Promise<BegunCall> {
  const isJoined = state === 'deferred' && !isRetry;
  if (isJoined) await tasks.joinCall(id);
  return { id, isJoined };
}

/** A running equal call may still become held, so waits until it is held or final. */
async function joinCall(
  state: RequestState,
  call: { tool: string; args: JsonObject },
  asked: Pick<TaskRequest, 'message' | 'surface' | 'alias'>,
  signal: AbortSignal,
): Promise<BegunCall> {
  for (;;) {
    const { id, isNew } = await openCallFor(state, asked, call);
    if (isNew) return { id, isJoined: false };
    const task = await state.tasks.standing(id, signal);
    if (task.surface !== 'mcp' || !(wasHeld(task) || task.waits !== undefined)) continue;
    await state.tasks.joinCall(id);
    return { id, isJoined: true };
  }
}

/** Returns the call that an MCP client's task runs; `null` for any other task. */
export function calledIn({ surface, history }: Task): { tool: string; args: JsonObject } | null {
  const asked = history.findLast(({ role }) => role === 'user')?.parts[0];
  if (surface !== 'mcp' || asked?.kind !== 'data' || !isJsonObject(asked.data)) return null;
  const { tool, args } = asked.data;
  return typeof tool === 'string' && isJsonObject(args) ? { tool, args } : null;
}
