import type { CredentialProvider, HeldCall } from '../governance/ruling.ts';
import { boundHistory } from './bound-history.ts';
import { defaultLimits, nothingSpent, type Spent, type TaskLimits } from './limits.ts';
import type {
  Caller,
  CutReason,
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
} from './task.ts';
import type { MintInput } from './task-events.ts';

/** What a run was asked for, and by whom. */
export interface TaskRun {
  id: string;
  contextId: string;
  correlationId: string;
  /** What everything reported of this run carries besides; the chart looks into none of it. */
  tags: Record<string, string>;
  /** Where the request stands in a trace, as a W3C `traceparent`; `null` when it is in none. */
  trace: string | null;
  requester: Caller | null;
  /** Whom the task belongs to; absent while that is who asked. */
  owner?: Owner | null;
  /** The surface that the run was asked for on. */
  surface: Surface;
  /** Messages of earlier tasks of the session, oldest first. */
  session: Message[];
  /** Messages of earlier runs, oldest first. */
  history: Message[];
  /** How many messages came before them and are not kept. */
  leftOut: number;
  /** The calls that started, in earlier runs and in this one, oldest first. */
  ran: RanCall[];
  request: Message;
  limits: TaskLimits;
  /** What an error of a tool leads to: the end of the run, or a result that the model is told of. */
  onToolError: 'fail' | 'return';
  /** Epoch milliseconds. */
  createdAt: number;
}

/** What a task starts from: a new task, or a new run of one that had ended. */
export interface TaskInput extends TaskRun {
  /** The decision of the last deferral of an earlier run. */
  settled: SettledDeferral | null;
}

/** Fills in what a task starts from that is the first of its session and asks for no more than this. */
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
    limits: defaultLimits,
    onToolError: 'fail',
    settled: null,
    ...asked,
  };
}

/** What was asked for, and what has become of it; plain JSON, so that a snapshot of it can be stored. */
export interface TaskContext {
  run: TaskRun;
  /** Calls the model asked for that have not ended; the first is the current one. */
  pending: ToolCall[];
  exchanges: Exchange[];
  /** What was said while a call waited, oldest first. */
  followUps: FollowUp[];
  /** What the model said in the turns that asked for calls, oldest first. */
  said: SaidTurn[];
  /** What the run has used up of its limits. */
  spent: Spent;
  /** When the last effect ended, in epoch milliseconds: the time that a deferral counts from. */
  now: number;
  /**
   * Epoch milliseconds at which the current call started, 0 until its start is on disk; `null` while none of it is
   * reported.
   */
  startedAt: number | null;
  deferral: Deferral | null;
  /** The decision of the last deferral, which may be one of an earlier run. */
  settled: SettledDeferral | null;
  /** The deferral whose call is ruled on again, or runs; `null` when the current call was not held. */
  held: HeldCall | null;
  /** Who makes the credentials of the current call; `null` when it needs none. */
  credential: CredentialProvider | null;
  /** How well the calls that were scored fitted what was asked, oldest first. */
  scores: number[];
  records: DecisionRecord[];
  answer: Part[] | null;
  /** Why the provider cut the answer; absent for a whole one. */
  cut?: CutReason;
  /** The wait of the call that runs; absent or `null` while it works. */
  waits?: WaitElsewhere | null;
  failure: Failure | null;
  cancelReason: string | null;
}

/** Returns what a task knows before anything has happened; of earlier runs as much as is kept beside its request. */
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

/** Returns the tool call that is being governed or run. Throws when there is none. */
export function currentCall({ pending: [call] }: TaskContext): ToolCall {
  if (call === undefined) throw new Error('no tool call is under way');
  return call;
}

/** Returns the deferral that waits for a decision. Throws when there is none. */
export function pendingDeferral({ deferral }: TaskContext): Deferral {
  if (deferral === null) throw new Error('no deferral is pending');
  return deferral;
}

/** How a call ended for the model, at a time in epoch milliseconds. */
export interface CallEnd extends Pick<Exchange, 'result' | 'failed' | 'structured' | 'parts'> {
  at: number;
}

/** Returns what of a result is not text. */
export function extrasIn({ structured, parts }: ResultExtras): ResultExtras {
  return {
    ...(structured === undefined ? {} : { structured }),
    ...(parts === undefined ? {} : { parts }),
  };
}

/** Returns what a task knows once its current call has ended. */
export function endCall(context: TaskContext, { at, ...end }: CallEnd): Partial<TaskContext> {
  const { exchanges, pending } = context;
  const { asked: _, offered: _offered, ...call } = currentCall(context);
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

/** Returns the digest a person released for the current call, or `null` when it needed nobody. */
export function approvedDigest(context: TaskContext): string | null {
  const { held } = context;
  const isReleased = held?.isReleased === true && held.deferral.id === currentCall(context).id;
  return isReleased ? held.deferral.argsSha256 : null;
}

/** Returns the digest of what a person released to run; empty for a call that needed nobody. */
export function approvedRuns(context: TaskContext): { approvedRuns?: string } {
  const runsSha256 = context.held?.deferral.runsSha256;
  return runsSha256 === undefined || approvedDigest(context) === null
    ? {}
    : { approvedRuns: runsSha256 };
}

/** Returns what making the credentials of the current call needs. Throws when it needs none. */
export function mintInput(context: TaskContext): MintInput {
  const { credential: provider, run } = context;
  if (provider === null) throw new Error('the call needs no credentials');
  return { taskId: run.id, call: currentCall(context), provider };
}
