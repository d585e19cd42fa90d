import { RELATED_TASK_META_KEY, type RequestId, type Server } from '@modelcontextprotocol/server';
import type { Task } from '../../machines/domain/task.ts';
import { isTaskId } from '../../machines/task/task-id.ts';
import type { CallerTasks } from '../caller-tasks.ts';
import { timestamp } from '../wire/timestamp.ts';
import type { McpFace } from './mcp-face.ts';

/** The ID of a request that shows an address to a client of MCP 2025-11-25: the IDs of the task and of its wait. */
const linkId = /^link:(.+):([^:]+)$/;

/** A request to open the page on which people decide. Its answer decides nothing. */
export interface DecisionLink {
  /** ID of the deferral; unique for each wait of a task. */
  key: string;
  method: 'elicitation/create';
  params: { mode: 'url'; message: string; url: string };
}

/** Returns the address to show for a waiting call; `null` if there is none, or if the client has answered it. */
export function decisionLink(
  { deferral, state }: Task,
  { pageOf }: Pick<McpFace, 'pageOf'>,
): DecisionLink | null {
  if (state !== 'deferred' || deferral === null || deferral.isLinkShown === true) return null;
  const url = pageOf(deferral.id);
  if (url === null) return null;
  const until = timestamp(deferral.expiresAt);
  const message = `The call of ${deferral.tool} waits for ${deferral.to} until ${until}. Open the page to see it or to decide.`;
  return { key: deferral.id, method: 'elicitation/create', params: { mode: 'url', message, url } };
}

/** Formats a link as the input requests of MCP 2026-07-28. */
export function inputRequestsOf({ key, method, params }: DecisionLink): object {
  return { [key]: { method, params } };
}

/** Sends a link to a client of MCP 2025-11-25 on the stream of its request for the result of a task. */
export function sendLink(
  { transport }: Server,
  { key, method, params }: DecisionLink,
  { taskId, requestId }: { taskId: string; requestId: RequestId },
): void {
  const _meta = { [RELATED_TASK_META_KEY]: { taskId } };
  const id = `link:${taskId}:${key}`;
  const sent = { ...params, elicitationId: key, _meta };
  // The answer arrives as a message of its own, maybe at another daemon.
  transport
    ?.send({ jsonrpc: '2.0', id, method, params: sent }, { relatedRequestId: requestId })
    .catch(() => undefined);
}

/** Records a client's answer to a sent link. */
export async function recordAnswer(tasks: CallerTasks, answerId: unknown): Promise<void> {
  const [, taskId, key = ''] = linkId.exec(String(answerId)) ?? [];
  const task = isTaskId(taskId) ? await tasks.findOwn(taskId) : undefined;
  if (task !== undefined) await recordLink(tasks, task, [key]);
}

/** Records that a client has answered the link of a waiting call, so that it does not receive the link again. */
export async function recordLink(
  tasks: CallerTasks,
  { id, deferral, state }: Task,
  answered: readonly string[],
): Promise<void> {
  const isShown = state === 'deferred' && deferral !== null && answered.includes(deferral.id);
  if (isShown && deferral.isLinkShown !== true) await tasks.showedLink(id);
}
