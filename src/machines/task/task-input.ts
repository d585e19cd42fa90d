import type { CallOrigin, Hold } from '../domain/hold.ts';
import type {
  Caller,
  CutReason,
  DecidedCall,
  DecisionRecord,
  Deferral,
  Exchange,
  Failure,
  FollowUp,
  Message,
  Owner,
  Part,
  RanCall,
  ResultExtras,
  SaidTurn,
  SettledDeferral,
  Surface,
  ToolCall,
  WaitElsewhere,
} from '../domain/task.ts';
import type { CredentialProvider, HeldCall } from '../governance/ruling.ts';
import type { RuledTask } from '../governance/tool-call-setup.ts';
import { boundHistory } from './bound-history.ts';
import { defaultLimits, nothingSpent, type Spent, type TaskLimits } from './limits.ts';
import type { FirstCall, MintInput } from './task-events.ts';

/** A run's request and requester. */
export interface TaskRun {
  id: string;
  contextId: string;
  correlationId: string;
  /** Tags added to everything reported of this run. The chart does not read them. */
  tags: Record<string, string>;
  /** The request's trace as a W3C `traceparent`; `null` if there is none. */
  trace: string | null;
  requester: Caller | null;
  /** The task's owner; absent if that is the requester. */
  owner?: Owner | null;
  /** The surface on which the run was requested. */
  surface: Surface;
  /** Messages of earlier tasks of the session, oldest first. */
  session: Message[];
  /** Messages of earlier runs, oldest first. */
  history: Message[];
  /** Number of earlier messages that are not stored. */
  leftOut: number;
  /** The started calls of earlier runs and of this one, oldest first. */
  ran: RanCall[];
  /** The newest decided calls of the task, oldest first; absent if there are none. */
  decided?: DecidedCall[];
  request: Message;
  /** The calls that the run begins with, until they are accepted; absent for a run that begins with a model turn. */
  calls?: FirstCall[];
  /** The hold of a run whose only call another program runs; absent for every other run. */
  hold?: Hold;
  /** False for a run without a model, which ends with the result of its last call. */
  hasModel: boolean;
  limits: TaskLimits;
  /** The effect of a tool error: the run fails, or the model receives the error as a result. */
  onToolError: 'fail' | 'return';
  /** Epoch milliseconds. */
  createdAt: number;
}

/** The input of a task: a new task, or a new run of an ended one. */
export interface TaskInput extends TaskRun {
  /** The decision of the last deferral of an earlier run. */
  settled: SettledDeferral | null;
}

/** Builds the input of a task that is the first of its session, with defaults for the other fields. */
export function newTask(
  asked: Pick<TaskInput, 'id' | 'request' | 'requester' | 'createdAt'> & Partial<TaskInput>,
): TaskInput {
  return {
    contextId: asked.id,
    correlationId: asked.id,
    tags: {},
    trace: null,
    surface: 'legacy',
    session: [],
    history: [],
    leftOut: 0,
    ran: [],
    hasModel: true,
    limits: defaultLimits,
    onToolError: 'fail',
    settled: null,
    ...asked,
  };
}

/** The request and its progress. Plain JSON, so it can be stored in a snapshot. */
export interface TaskContext {
  run: TaskRun;
  /** Requested calls that have not ended; the first is the current one. */
  pending: ToolCall[];
  exchanges: Exchange[];
  /** Messages sent while a call was held, oldest first. */
  followUps: FollowUp[];
  /** The model's other output in the turns that requested calls, oldest first. */
  said: SaidTurn[];
  /** The resources that the run has used of its limits. */
  spent: Spent;
  /** Epoch milliseconds at which the last effect ended; a deferral's times are counted from it. */
  now: number;
  /**
   * Epoch milliseconds at which the current call started; 0 until its start is on disk, `null` while no start has been
   * reported.
   */
  startedAt: number | null;
  deferral: Deferral | null;
  /** The decision of the last deferral, possibly of an earlier run. */
  settled: SettledDeferral | null;
  /** The deferral whose call is evaluated again or is running; `null` if the current call was not held. */
  held: HeldCall | null;
  /** The credential provider of the current call; `null` if it needs no credentials. */
  credential: CredentialProvider | null;
  /** Intent scores of the scored calls, oldest first. */
  scores: number[];
  records: DecisionRecord[];
  answer: Part[] | null;
  /** The reason why the provider truncated the answer; absent for a complete one. */
  cut?: CutReason;
  /** The wait of the running call; absent or `null` while it is working. */
  waits?: WaitElsewhere | null;
  failure: Failure | null;
  cancelReason: string | null;
}

/** Returns the initial context of a task, including the stored data of earlier runs. */
export function initialContext({ settled, ...asked }: TaskInput): TaskContext {
  const { messages, leftOut } = boundHistory([...asked.history, asked.request], asked.leftOut, 1);
  return {
    run: { ...asked, history: messages.slice(0, -1), leftOut },
    pending: [],
    exchanges: [],
    followUps: [],
    said: [],
    spent: nothingSpent,
    now: asked.createdAt,
    startedAt: null,
    deferral: null,
    settled,
    held: null,
    credential: null,
    scores: [],
    records: [],
    answer: null,
    failure: null,
    cancelReason: null,
  };
}

/** Returns the parts of a run that conditions of rules may read. */
export function ruledTask({
  surface,
  contextId: session,
  tags,
  hold,
}: Pick<TaskRun, 'surface' | 'contextId' | 'tags' | 'hold'>): RuledTask {
  const origin = originOf(hold);
  return { surface, session, tags, ...(origin === undefined ? {} : { call: origin }) };
}

/** Returns the facts that the program of a hold states of its call; `undefined` for none. */
function originOf({ cwd, client }: Partial<Hold> = {}): CallOrigin | undefined {
  if (cwd === undefined && client === undefined) return undefined;
  return { ...(cwd === undefined ? {} : { cwd }), ...(client === undefined ? {} : { client }) };
}

/** Returns the tool call being governed or run. Throws if there is none. */
export function currentCall({ pending: [call] }: TaskContext): ToolCall {
  if (call === undefined) throw new Error('no tool call is under way');
  return call;
}

/** Returns the deferral waiting for a decision. Throws if there is none. */
export function pendingDeferral({ deferral }: TaskContext): Deferral {
  if (deferral === null) throw new Error('no deferral is pending');
  return deferral;
}

/** The end of a call as sent to the model, with the time in epoch milliseconds. */
export interface CallEnd extends Pick<Exchange, 'result' | 'failed' | 'structured' | 'parts'> {
  at: number;
}

/** Returns the non-text parts of a result. */
export function extrasIn({ structured, parts }: ResultExtras): ResultExtras {
  return {
    ...(structured === undefined ? {} : { structured }),
    ...(parts === undefined ? {} : { parts }),
  };
}

/** Returns the context changes at the end of the current call. */
export function endCall(context: TaskContext, { at, ...end }: CallEnd): Partial<TaskContext> {
  const { exchanges, pending } = context;
  const {
    asked: _,
    offered: _offered,
    policySha256: _policy,
    remote: _remote,
    reserved: _reserved,
    ...call
  } = currentCall(context);
  return {
    exchanges: [...exchanges, { call, ...end, ...noteForModel(context) }],
    pending: pending.slice(1),
    startedAt: null,
    held: null,
    now: at,
  };
}

function noteForModel(context: TaskContext): Pick<Exchange, 'approval'> {
  const { settled } = context;
  if (settled === null || settled.note === '' || approvedDigest(context) === null) return {};
  const { approver, note } = settled;
  return { approval: { approver, note } };
}

/**
 * Returns the digest that an approver released for the current call, or `null` if it needed no
 * approval.
 */
export function approvedDigest(context: TaskContext): string | null {
  const { held } = context;
  const isReleased = held?.isReleased === true && held.deferral.id === currentCall(context).id;
  return isReleased ? held.deferral.argsSha256 : null;
}

/** Returns the digest of what an approver released to run; empty for a call without approval. */
export function approvedRuns(context: TaskContext): { approvedRuns?: string } {
  const runsSha256 = context.held?.deferral.runsSha256;
  return runsSha256 === undefined || approvedDigest(context) === null
    ? {}
    : { approvedRuns: runsSha256 };
}

/** Returns the input for issuing the current call's credentials. Throws if it needs none. */
export function mintInput(context: TaskContext): MintInput {
  const { credential: provider, run } = context;
  if (provider === null) throw new Error('the call needs no credentials');
  return { taskId: run.id, call: currentCall(context), provider };
}
