import type { ServerCallContext } from '@a2a-js/sdk/server';
import { SystemError } from '../../actors/system-error.ts';
import type { Task } from '../../machines/task/task.ts';
import { holdOpen } from '../hold-open.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { tellUsage } from '../tell-usage.ts';
import type { Challenge } from '../wire/challenge.ts';
import { Problem } from '../wire/problem.ts';
import type { Sdk } from './sdk.ts';

/** The request behind a call of the SDK, with the notes that the call leaves on it. */
export interface CallRequest {
  state: RequestState;
  /** Aborted when the caller leaves. */
  gone: AbortSignal;
  /** True once the SDK has read the request; earlier failures are the caller's. */
  isRead: boolean;
  /** True for a call without an id to answer to: it is validated and not run. */
  isUnasked?: boolean;
  /** True for a caller whose library does not read that a chunk is appended, as that of HTTP+JSON 0.3.0. */
  losesAppend?: boolean;
  /** Why the call was refused in words of ours, which the SDK would take for a defect; or a defect. */
  refusal?: Challenge | Error;
  /** Why a stream that had begun ended before its task. */
  lost?: Error;
  /** The task that the call waits for. */
  taskId?: string;
  /** Keeps the answer open while its task runs; returns a function that ends the hold. */
  holdOpen: (taskId: string) => () => void;
  /** Says in the headers of the answer what the models of a task took so far. */
  tellUsage: (task: Task) => void;
  /** Tells whether the answer can still ask its caller to sign in again. */
  canChallenge: () => boolean;
}

const key = 'request';

/** Made once: with each comes a stack, and every answer ends with one. */
const ended = new DOMException('the answer has ended', 'AbortError');

/** Makes the context of a call; `version` is the A2A version it speaks. */
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

/** Collects the request data of a call; `restType` is the media type of a REST answer, `null` over JSON-RPC. */
export function callRequest(ctx: RoutedContext, restType: string | null): CallRequest {
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort(ended));
  const type = restType === null ? {} : { type: restType };
  return {
    state: ctx.state,
    gone: gone.signal,
    isRead: false,
    holdOpen: (id) => holdOpen(ctx, id, { ...type, isRunning: true }),
    tellUsage: (task) => tellUsage(ctx, task),
    canChallenge: () => restType === null || !ctx.headerSent,
  };
}

/** Returns the refusal of a call as a whole, for the transport to answer; a held call names its task. */
export function transportRefusal({ refusal, taskId }: CallRequest): Error | null {
  if (!(refusal instanceof Error)) return null;
  if (!(refusal instanceof SystemError) || taskId === undefined) return refusal;
  const { status, body } = problemOf(refusal);
  return new Problem(status, { ...body, task_id: taskId });
}

/** Returns the request of a call. */
export function requestOf(context: ServerCallContext): CallRequest {
  return context.state.get(key) as CallRequest;
}
