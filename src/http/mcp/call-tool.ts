import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Ids, Log } from '../../actors/ports.ts';
import { SystemError } from '../../actors/system-error.ts';
import type { Task } from '../../machines/task/task.ts';
import { type WaitMark, waitsMark } from '../../machines/task/wait-mark.ts';
import type { Heartbeats } from '../heartbeats.ts';
import type { RequestState } from '../request-state.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import { timestamp } from '../wire/timestamp.ts';
import { beginCall, type McpCall } from './mcp-call.ts';
import { type CallAnswer, presentCall } from './present-call.ts';

/** What calls are made with. */
export interface CallPorts {
  ids: Ids;
  log: Log;
  /** Tells clients now and then that a call is still held. */
  beats: Heartbeats;
  /** The policy for a wait whose client is gone (contract section 5). */
  onDisconnect: 'abandon' | 'keep';
}

/** The request that a message of a client came in. */
export interface McpRequest {
  state: RequestState;
  /** Aborted once the client has left the stream of its answer. */
  gone: AbortSignal;
}

export type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A client whose own patience has ended says so when it calls off. */
const outOfPatience = /timed?[ -]?out/i;

/**
 * Makes one call as a task and resolves with what it came to; while it is held the client hears so. A client that calls
 * it off ends it; one that is gone ends it as it would end a stream. Rejects with RpcError.
 */
export async function callTool(
  ports: CallPorts,
  { state, gone }: McpRequest,
  call: McpCall,
  extra: CallExtra & { isClosed: () => boolean },
): Promise<CallAnswer> {
  const { log, onDisconnect } = ports;
  let id: string | null = null;
  try {
    id = await beginCall(state, call, () => ports.ids.next());
    const settled = state.tasks.settled(id, AbortSignal.any([gone, extra.signal]));
    const rest = tellOfHold(ports, state, id, extra);
    return presentCall(await settled.finally(rest));
  } catch (error) {
    if (id !== null && (extra.signal.aborted || gone.aborted)) {
      await leave(state, id, endingOf(extra, onDisconnect)).catch((cause: unknown) =>
        log.error({ error: cause, task_id: id }, 'mcp: a call could not be ended'),
      );
    }
    throw refusalOf(error, id, log);
  }
}

type Ending = { kind: 'cancel'; reason: string } | { kind: 'leave' } | { kind: 'nothing' };

/** A client that calls off because it has waited long enough is gone, and has not changed its mind. */
function endingOf(
  { signal, isClosed }: Pick<CallExtra, 'signal'> & { isClosed: () => boolean },
  onDisconnect: CallPorts['onDisconnect'],
): Ending {
  const isGone = !signal.aborted || isClosed();
  const reason = typeof signal.reason === 'string' ? signal.reason : undefined;
  const hasWaited = reason !== undefined && outOfPatience.test(reason);
  if (!isGone && !(hasWaited && onDisconnect === 'keep')) {
    return { kind: 'cancel', reason: hasWaited ? 'timeout' : readCancelReason({ reason }) };
  }
  return { kind: onDisconnect === 'abandon' ? 'leave' : 'nothing' };
}

async function leave({ tasks }: RequestState, id: string, ending: Ending): Promise<void> {
  if (ending.kind === 'cancel') await tasks.cancel(id, ending.reason);
  if (ending.kind === 'leave') await tasks.callerLeft(id);
}

/** What a held call waits for; what a call of another agent waits for there counts as well. */
function waitOf({ state, deferral, waits }: Task): WaitMark | null {
  if (waits !== undefined)
    return { for: `${waits.for} at ${waits.at}`, until: waits.until ?? null };
  if (state !== 'deferred' || deferral === null) return null;
  return { for: deferral.to, until: timestamp(deferral.expiresAt) };
}

/** Tells a client that asked for progress that its call is held, and by which task, until it is stopped. */
function tellOfHold(
  { beats }: CallPorts,
  { tasks }: RequestState,
  id: string,
  { _meta, sendNotification }: CallExtra,
): () => void {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let progress = 0;
  let isOver = false;
  let task: Task | undefined;
  let hasTold = false;
  const tell = (): void => {
    const wait = task === undefined ? null : waitOf(task);
    if (isOver || task === undefined || (wait === null && !hasTold)) return;
    hasTold = wait !== null;
    progress += 1;
    const message = `${wait === null ? 'goes on' : (task.text ?? 'held')} (task ${id})`;
    const params = {
      ...{ progressToken, progress, message },
      _meta: { task_id: id, [waitsMark]: wait },
    };
    sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
  };
  const see = (seen: Task | undefined): void => {
    if ((seen?.revision ?? 0) < (task?.revision ?? 0)) return;
    task = seen;
    tell();
  };
  const unwatch = tasks.watch(id, { onTask: see, onLost: () => undefined });
  const rest = beats.start(tell);
  // Who waits for the call hears of it when it cannot be read.
  tasks.find(id).then(see, () => undefined);
  return () => {
    isOver = true;
    unwatch();
    rest();
  };
}

/** What is not meant for callers is logged and told as a fixed text. */
function refusalOf(error: unknown, id: string | null, log: Log): RpcError {
  if (error instanceof RpcError) return error;
  const data = id === null ? undefined : { task_id: id };
  if (error instanceof SystemError) {
    const code = error.code === 'unknown_task' ? rpcCodes.taskNotFound : rpcCodes.refused;
    return new RpcError(code, error.message, null, data);
  }
  if (!(error instanceof DOMException) && error instanceof Error) {
    log.error({ error }, 'mcp: a call failed');
  }
  return new RpcError(rpcCodes.internalError, 'internal error', null, data);
}
