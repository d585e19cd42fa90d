import type { ServerContext } from '@modelcontextprotocol/server';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import { recordLink } from './decision-link.ts';
import type { McpCall } from './mcp-call.ts';

/**
 * Returns a call as sent, or bound to its waiting task if the client sends it again after it showed the address of the
 * page (MCP 2026-07-28). Rejects with RpcError for a state that belongs to no call of the caller.
 */
export async function repeatedCall(
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
