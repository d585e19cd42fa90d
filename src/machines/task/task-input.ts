import type {
  Caller,
  DecisionRecord,
  Deferral,
  Exchange,
  Failure,
  Message,
  Part,
  SettledDeferral,
  ToolCall,
} from './task.ts';

/** What a task starts from: a new task, or a new run of one that had ended. */
export interface TaskInput {
  id: string;
  contextId: string;
  correlationId: string;
  requester: Caller | null;
  /** Messages of earlier runs, oldest first. */
  history: Message[];
  request: Message;
  /** The decision of the last deferral of an earlier run. */
  settled: SettledDeferral | null;
  /** Epoch milliseconds. */
  createdAt: number;
}

/** What a task knows; plain JSON, so that a snapshot of it can be stored. */
export interface TaskContext extends TaskInput {
  /** Calls the model asked for that have not ended; the first is the current one. */
  pending: ToolCall[];
  exchanges: Exchange[];
  turns: number;
  /** When the last effect ended, in epoch milliseconds: the time that a deferral counts from. */
  now: number;
  /** Epoch milliseconds at which the current tool call started. */
  startedAt: number;
  deferral: Deferral | null;
  /** The call that the last approval released; `null` before any. */
  approvedCallId: string | null;
  records: DecisionRecord[];
  answer: Part[] | null;
  failure: Failure | null;
  cancelReason: string | null;
}

/** Returns what a task knows before anything has happened. */
export function initialContext(input: TaskInput): TaskContext {
  return {
    ...input,
    pending: [],
    exchanges: [],
    turns: 0,
    now: input.createdAt,
    startedAt: 0,
    deferral: null,
    approvedCallId: null,
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

/** Returns the digest a person released for the current call, or `null` when it needed nobody. */
export function approvedDigest(context: TaskContext): string | null {
  const { settled, approvedCallId } = context;
  return approvedCallId === currentCall(context).id && settled !== null ? settled.argsSha256 : null;
}
