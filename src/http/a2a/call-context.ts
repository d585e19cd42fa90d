import type { ServerCallContext } from '@a2a-js/sdk/server';
import { SystemError } from '../../actors/system-error.ts';
import type { Task } from '../../machines/domain/task.ts';
import { type Hold, holdOpen } from '../hold-open.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { tellUsage } from '../tell-usage.ts';
import type { Challenge } from '../wire/challenge.ts';
import { withMembers } from '../wire/problem.ts';
import type { Sdk } from './sdk.ts';

/** The HTTP request of an SDK call, and the notes recorded during the call. */
export interface CallRequest {
  state: RequestState;
  /** Aborted when the client disconnects. */
  gone: AbortSignal;
  /** True once the SDK has parsed the request. Earlier failures are client errors. */
  isRead: boolean;
  /** True for a call without an ID: it is validated but not run. */
  isUnasked?: boolean;
  /** True for a client whose library ignores the append flag of a chunk, such as HTTP+JSON 0.3.0. */
  losesAppend?: boolean;
  /** The refusal of the call, which the SDK would report as a defect; or an actual defect. */
  refusal?: Challenge | Error;
  /** The reason why a started stream ended before its task. */
  lost?: Error;
  /** The task on which the call waits. */
  taskId?: string;
  /** Keeps the response open while its task runs. */
  holdOpen: () => Hold;
  /** Reports the token usage of a task's models so far in the response headers. */
  tellUsage: (task: Task) => void;
  /** Returns true if the response can still challenge the caller to sign in again. */
  canChallenge: () => boolean;
}

const key = 'request';

/** Created once, because each error captures a stack and every response ends with this error. */
const ended = new DOMException('the answer has ended', 'AbortError');

/** Creates the context of a call; `version` is its A2A version. */
export function callContext(
  sdk: Sdk,
  request: CallRequest,
  version: string | undefined,
): ServerCallContext {
  return new sdk.ServerCallContext({
    ...(version === undefined ? {} : { requestedVersion: version }),
    state: new Map([[key, request]]),
  });
}

/** Collects the request data of a call; `restType` is the media type of a REST response, `null` for JSON-RPC. */
export function callRequest(ctx: RoutedContext, restType: string | null): CallRequest {
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort(ended));
  return {
    state: ctx.state,
    gone: gone.signal,
    isRead: false,
    holdOpen: () => holdOpen(ctx, restType ?? 'json'),
    tellUsage: (task) => tellUsage(ctx, task),
    canChallenge: () => restType === null || !ctx.headerSent,
  };
}

/** Returns the refusal of a whole call for the transport to answer. A held call names its task. */
export function transportRefusal({ refusal, taskId }: CallRequest): Error | null {
  if (!(refusal instanceof Error)) return null;
  if (!(refusal instanceof SystemError) || taskId === undefined) return refusal;
  return withMembers(problemOf(refusal), { task_id: taskId });
}

export function requestOf(context: ServerCallContext): CallRequest {
  return context.state.get(key) as CallRequest;
}
