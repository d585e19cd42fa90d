import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import { SystemError } from '../../actors/system-error.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import type { RequestState } from '../request-state.ts';
import { readCancelReason } from '../wire/cancel-reason.ts';
import { RpcError, rpcCodes } from '../wire/json-rpc.ts';
import type { CallExtra, CallPorts, McpRequest } from './call-ports.ts';
import { sendProgress } from './call-progress.ts';
import { presentLegacyTask, presentModernTask } from './call-task.ts';
import { decisionLink, inputRequestsOf } from './decision-link.ts';
import { beginCall, type McpCall } from './mcp-call.ts';
import type { McpFace } from './mcp-face.ts';
import { type CallAnswer, presentCall } from './present-call.ts';
import { howToAskFor } from './task-result-tool.ts';
import { type Patience, waitForCall } from './wait-for-call.ts';

/** Milliseconds after which a client that accepts tasks receives one for a call that is not held. */
const longestRun = 10_000;

/**
 * The early answer that a client understands: a string, a task of MCP 2025-11-25, a task of MCP 2026-07-28, or a request
 * to show an address to the user and to call again.
 */
export type CallForm = 'text' | 'legacyTask' | 'task' | 'link';

/** The answer to a call that is not final. */
export type EarlyAnswer = Record<string, unknown>;

interface AnswerParts {
  face: McpFace;
  clock: Clock;
  tasks: RequestState['tasks'];
  signal: AbortSignal;
}

/** Matches the cancel reason of a client whose own timeout expired. */
const outOfPatience = /timed?[ -]?out/i;

/**
 * Runs one call as a task. Resolves with its result, or with the task ID if the call is held longer than the client's
 * wait limit. Cancelling by the client ends the call. A disconnected client ends it according to the stream policy,
 * unless other clients wait for the same call. Rejects with RpcError.
 */
export async function callTool(
  face: McpFace,
  ports: CallPorts,
  { state, gone, alias }: McpRequest,
  call: McpCall,
  extra: CallExtra & { isClosed: () => boolean; form: CallForm },
): Promise<CallAnswer | EarlyAnswer> {
  const { log, clock } = ports;
  const signal = AbortSignal.any([gone, extra.signal]);
  let id: string | null = null;
  let leave: () => boolean = () => true;
  try {
    const newMessageId = () => ports.ids.next();
    const begun = await beginCall(state, call, { newMessageId, signal, alias });
    id = begun.id;
    leave = ports.waiting.enter(id);
    const rest = sendProgress(ports.beats, state.tasks, id, extra);
    // A client that repeats a waiting call did not keep waiting in spite of progress notifications.
    const isPatient = extra._meta?.progressToken !== undefined && !begun.isJoined;
    const usual = isPatient ? null : face.answerWithin || null;
    const answered = answerFor(begun.id, extra.form, usual, {
      face,
      clock,
      tasks: state.tasks,
      signal,
    });
    const { task, early } = await answered.finally(rest);
    leave();
    if (early === null && !signal.aborted) await received(state, task, call, log);
    return early ?? presentCall(task, (held) => howToAskFor(face, held.id));
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

/** Waits as long as the client waits, and returns the call with its early answer; `null` for a string or a result. */
async function answerFor(
  id: string,
  form: CallForm,
  usual: number | null,
  { face, clock, tasks, signal }: AnswerParts,
): Promise<{ task: Task; early: EarlyAnswer | null }> {
  const wait = (limits: Omit<Patience, 'clock'>) =>
    waitForCall(tasks, id, signal, { clock, ...limits });
  const task = await wait(patienceOf(form, usual));
  const isResult = isFinal(task.state) && form !== 'legacyTask';
  if (isResult || form === 'text') return { task, early: null };
  const early = earlyAnswer(task, form, { face, clock });
  // There is no address to show, or the client has shown it.
  return early === null
    ? answerFor(id, 'text', usual, { face, clock, tasks, signal })
    : { task, early };
}

/** A client that receives a task instead of a result waits for neither a person nor a slow tool. */
function patienceOf(form: CallForm, usual: number | null): Omit<Patience, 'clock'> {
  if (form === 'legacyTask') return { held: null, running: 0 };
  if (form === 'task') return { held: 0, running: longestRun };
  return { held: form === 'link' ? 0 : usual, running: null };
}

/** Returns the answer to a call that is not final in the form that the client understands; `null` for a string. */
function earlyAnswer(
  task: Task,
  form: Exclude<CallForm, 'text'>,
  { face, clock }: Pick<AnswerParts, 'face' | 'clock'>,
): EarlyAnswer | null {
  const view = { face, now: clock.now(), links: false };
  if (form === 'legacyTask') return { task: presentLegacyTask(task, view), content: [] };
  if (form === 'task') {
    return { ...presentModernTask(task, view), resultType: 'task', content: [] };
  }
  const link = decisionLink(task, face);
  if (link === null) return null;
  const asked = { inputRequests: inputRequestsOf(link), requestState: task.id };
  return { resultType: 'input_required', ...asked, _meta: { task_id: task.id } };
}

/** Records that a client receives a call's result, so that the next equal call starts a new task. */
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

/** Ends a call whose last client has disconnected, unless the policy keeps it. */
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

/** Cancels a call that another daemon serves, unless other clients wait for it or its client only timed out. */
export async function callOffElsewhere(
  state: RequestState,
  { alias, reason }: { alias: string; reason: unknown },
  onDisconnect: CallPorts['onDisconnect'],
): Promise<void> {
  const task = await state.tasks.findByAlias(alias);
  if (task === undefined || isFinal(task.state) || (await isRepeated(state, task.id))) return;
  await callOff(state, task.id, reason, onDisconnect === 'keep');
}

/** A client whose timeout expired still wants the call to run. */
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

/** Clients of other daemons may wait for a call that was requested more than once. */
async function isRepeated({ tasks }: RequestState, id: string): Promise<boolean> {
  return (await tasks.find(id))?.deferral?.requests !== undefined;
}

/** Internal errors are logged and reported to the caller as a fixed text. */
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
