import { RELATED_TASK_META_KEY } from '@modelcontextprotocol/server';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { waitsMark } from '../../machines/task/wait-mark.ts';
import { RpcError } from '../wire/json-rpc.ts';
import { timestamp } from '../wire/timestamp.ts';
import { waitOf } from './call-progress.ts';
import { type DecisionLink, decisionLink, inputRequestsOf } from './decision-link.ts';
import type { McpFace } from './mcp-face.ts';
import { type CallAnswer, presentCall } from './present-call.ts';
import { howToAskFor } from './task-result-tool.ts';

/** Shortest and longest recommended pause between two requests for a task's state, in milliseconds. */
const [shortestPause, longestPause] = [1_000, 10_000];

/** Share of a task's age that is the recommended pause. */
const pauseShare = 0.1;

/** What a client must receive to present a call as a task of its generation. */
export interface TaskView {
  face: Pick<McpFace, 'keptFor' | 'pageOf'>;
  now: number;
  /** True if the client can show an address to its user. */
  links: boolean;
}

/** Formats the state of a call as a task of MCP 2025-11-25. */
export function presentLegacyTask(task: Task, view: TaskView): Record<string, unknown> {
  const { result, error } = outcomeOf(task);
  const isFailed = error !== undefined || result?.isError === true;
  return {
    ...stateOf(task, { isAsking: linkFor(task, view) !== null, isFailed }),
    ttl: keptFor(task, view),
    pollInterval: pauseOf(task, view.now),
  };
}

/** Formats a call as a task of MCP 2026-07-28, with its result or its open request. */
export function presentModernTask(task: Task, view: TaskView): Record<string, unknown> {
  const link = linkFor(task, view);
  const { result, error } = outcomeOf(task);
  return {
    ...stateOf(task, { isAsking: link !== null, isFailed: error !== undefined }),
    ttlMs: keptFor(task, view),
    pollIntervalMs: pauseOf(task, view.now),
    ...(link === null ? {} : { inputRequests: inputRequestsOf(link) }),
    ...(error === undefined ? {} : { error }),
    ...(result === undefined ? {} : { result: { resultType: 'complete', ...result } }),
    _meta: { task_id: task.id, [waitsMark]: waitOf(task) },
  };
}

/** Formats the result of an ended call for `tasks/result` of MCP 2025-11-25. Throws RpcError. */
export function presentTaskResult(task: Task, face: Omit<McpFace, 'key'>): CallAnswer {
  const result = presentCall(task, ({ id }) => howToAskFor(face, id));
  return { ...result, _meta: { ...result._meta, [RELATED_TASK_META_KEY]: { taskId: task.id } } };
}

function linkFor(task: Task, { face, links }: TaskView): DecisionLink | null {
  return links ? decisionLink(task, face) : null;
}

interface Standing {
  /** True while the client has an address to show. */
  isAsking: boolean;
  /** An error result counts as a failure in MCP 2025-11-25 only. */
  isFailed: boolean;
}

function stateOf(task: Task, standing: Standing): Record<string, unknown> {
  const message = messageOf(task);
  return {
    taskId: task.id,
    status: statusOf(task, standing),
    ...(message === null ? {} : { statusMessage: message }),
    createdAt: timestamp(task.createdAt),
    lastUpdatedAt: timestamp(task.changedAt),
  };
}

function statusOf({ state }: Task, { isAsking, isFailed }: Standing): string {
  if (!isFinal(state)) return isAsking ? 'input_required' : 'working';
  if (state === 'canceled') return 'cancelled';
  return isFailed ? 'failed' : 'completed';
}

function messageOf(task: Task): string | null {
  if (isFinal(task.state)) return task.state === 'completed' ? null : task.text;
  const wait = waitOf(task);
  if (wait === null) return null;
  return `Waits for ${wait.for}${wait.until === null ? '' : ` until ${wait.until}`}.`;
}

/** Returns the result or the error of an ended call that was not canceled. */
function outcomeOf(task: Task): { result?: CallAnswer; error?: object } {
  if (!isFinal(task.state) || task.state === 'canceled') return {};
  try {
    return { result: presentCall(task, () => '') };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data } = error;
    return { error: { code, message, ...(data === undefined ? {} : { data }) } };
  }
}

/** Returns the milliseconds from a task's creation until it may be forgotten; `null` before its end. */
function keptFor({ state, createdAt, changedAt }: Task, { face }: TaskView): number | null {
  return isFinal(state) ? changedAt - createdAt + face.keptFor : null;
}

/** A client that waits for long asks rarely. */
function pauseOf({ createdAt }: Task, now: number): number {
  const pause = Math.round((now - createdAt) * pauseShare);
  return Math.min(longestPause, Math.max(shortestPause, pause));
}
