import type { Log } from '../../actors/ports.ts';
import { SystemError } from '../../actors/system-error.ts';
import { isFinal, type Task } from '../../machines/task/task.ts';
import type { RequestState } from '../request-state.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import type { CallExtra, CallPorts, McpRequest } from './call-ports.ts';
import { sendProgress } from './call-progress.ts';
import { beginCall, type McpCall } from './mcp-call.ts';
import type { McpFace } from './mcp-face.ts';
import { type CallAnswer, presentCall } from './present-call.ts';
import { howToAskFor } from './task-result-tool.ts';
import { waitForCall } from './wait-for-call.ts';

/** A client whose own patience has ended says so when it calls off. */
const outOfPatience = /timed?[ -]?out/i;

/**
 * Makes one call as a task and resolves with what it came to, or with the id of its task where it is held for longer than
 * the client is kept waiting. A client that calls it off ends it; one that is gone ends it as it would end a stream, unless
 * others wait for the same call. Rejects with RpcError.
 */
export async function callTool(
  face: McpFace,
  ports: CallPorts,
  { state, gone, alias }: McpRequest,
  call: McpCall,
  extra: CallExtra & { isClosed: () => boolean },
): Promise<CallAnswer> {
  const { log } = ports;
  const signal = AbortSignal.any([gone, extra.signal]);
  let id: string | null = null;
  let leave: () => boolean = () => true;
  try {
    const newMessageId = () => ports.ids.next();
    const begun = await beginCall(state, call, { newMessageId, signal, alias });
    id = begun.id;
    leave = ports.waiting.enter(id);
    const rest = sendProgress(ports.beats, state.tasks, id, extra);
    // Who asks once more for a call that waits has shown that progress did not keep it waiting.
    const isPatient = extra._meta?.progressToken !== undefined && !begun.isJoined;
    const patience = { clock: ports.clock, within: isPatient ? 0 : face.answerWithin };
    const task = await waitForCall(state.tasks, id, signal, patience).finally(rest);
    leave();
    if (!signal.aborted) await received(state, task, call, log);
    return presentCall(task, (held) => howToAskFor(face, held.id));
  } catch (error) {
    const isLast = leave();
    if (id !== null && signal.aborted && isLast) {
      await endCall(state, id, extra, ports.onDisconnect).catch((cause: unknown) =>
        log.error({ error: cause, task_id: id }, 'mcp: a call could not be ended'),
      );
    }
    throw refusalOf(error, id, log);
  }
}

/** Notes that a client receives what its call came to, so that the next equal one is a new call. */
export async function received(
  { tasks }: RequestState,
  task: Task,
  { tool, args }: Pick<McpCall, 'tool' | 'args'>,
  log: Log,
): Promise<void> {
  if (!isFinal(task.state)) return;
  await tasks.receivedCall(task, { tool, args }).catch((error: unknown) => {
    log.error({ error, task_id: task.id }, 'mcp: that a call was answered could not be stored');
  });
}

/** Ends a call whose last client has left, unless it goes on. */
async function endCall(
  state: RequestState,
  id: string,
  { signal, isClosed }: Pick<CallExtra, 'signal'> & { isClosed: () => boolean },
  onDisconnect: CallPorts['onDisconnect'],
): Promise<void> {
  const isKept = onDisconnect === 'keep' || (await isRepeated(state, id));
  if (signal.aborted && !isClosed()) await callOff(state, id, signal.reason, isKept);
  else if (!isKept) await state.tasks.callerLeft(id);
}

/** Calls a call off that another daemon answers, unless others wait for it or its client has only waited long enough. */
export async function callOffElsewhere(
  state: RequestState,
  { alias, reason }: { alias: string; reason: unknown },
  onDisconnect: CallPorts['onDisconnect'],
): Promise<void> {
  const task = await state.tasks.findByAlias(alias);
  if (task === undefined || isFinal(task.state) || (await isRepeated(state, task.id))) return;
  await callOff(state, task.id, reason, onDisconnect === 'keep');
}

/** A client that has waited long enough has not changed its mind. */
async function callOff(
  { tasks }: RequestState,
  id: string,
  said: unknown,
  isKept: boolean,
): Promise<void> {
  const reason = typeof said === 'string' ? said : undefined;
  const hasWaited = reason !== undefined && outOfPatience.test(reason);
  if (hasWaited && isKept) return;
  await tasks.cancel(id, hasWaited ? 'timeout' : readCancelReason({ reason }));
}

/** Clients elsewhere may wait for a call that was asked for more than once. */
async function isRepeated({ tasks }: RequestState, id: string): Promise<boolean> {
  return (await tasks.find(id))?.deferral?.requests !== undefined;
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
