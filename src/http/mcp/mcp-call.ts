import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../machines/json.ts';
import type { Message, Task } from '../../machines/task/task.ts';
import { openTaskFor } from '../open-task.ts';
import type { RequestState } from '../request-state.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import { isNewTaskId } from '../wire/task-request.ts';

/** One `tools/call` as a client asks for it. */
export interface McpCall {
  tool: string;
  args: JsonObject;
  /** The task that the client names in `_meta.task_id`; `null` for a new one. */
  taskId: string | null;
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
  return { tool: params.name, args: (params.arguments ?? {}) as JsonObject, taskId };
}

/**
 * Begins a call, or finds the one that the client names: the same call under the id of its task is never made twice.
 * Returns the id of the task. Throws RpcError for a task that is another call, and SystemError.
 */
export async function beginCall(
  state: RequestState,
  call: McpCall,
  newMessageId: () => string,
): Promise<string> {
  const { tool, args, taskId } = call;
  const data = { tool, args };
  const known = taskId === null ? undefined : await state.tasks.find(taskId);
  if (known !== undefined) {
    if (known.surface === 'mcp' && isDeepStrictEqual(calledIn(known), data)) return known.id;
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
  const id = taskId === null ? {} : { id: taskId };
  return openTaskFor(state, { ...id, message, surface: 'mcp' });
}

function calledIn({ history }: Task): unknown {
  const asked = history.findLast(({ role }) => role === 'user')?.parts[0];
  return asked?.kind === 'data' ? asked.data : null;
}
