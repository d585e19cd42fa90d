import type { JsonObject, JsonValue } from '../json.ts';
import type { ModelSpeaker } from '../models/model-call.ts';

/** One piece of a message; exactly one of `uri` and `bytes` is set on a file. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'data'; data: JsonValue }
  | { kind: 'file'; file: { name?: string; mimeType?: string; uri?: string; bytes?: string } };

/** What a caller or the agent said. */
export interface Message {
  role: 'user' | 'agent';
  parts: Part[];
  messageId: string;
  /** The role that the sender gave it, where that is not the one it counts as. */
  sentAs?: 'agent';
  /** Who said it; absent for the agent, without authentication, and in what older releases kept. */
  sender?: Pick<Caller, 'provider' | 'userId' | 'email'>;
}

/** The public states of a task (docs/contract/task.md); the last three are final. */
export const taskStates = [
  'submitted',
  'working',
  'deferred',
  'completed',
  'failed',
  'canceled',
] as const;

export type TaskState = (typeof taskStates)[number];

/** Where the answer of a completed task stands: in its artifact, in the message of its status, or in both. */
export const answerPlaces = ['artifact', 'status', 'both'] as const;

export type AnswerPlace = (typeof answerPlaces)[number];

/** Who sent a task or a decision, as the authentication chain established it. */
export interface Caller {
  /** The provider's name; `runtime` is the daemon's own token, `chat` whoever speaks in one. */
  provider: string;
  userId: string;
  email?: string;
  orgId?: string;
  workspaceId?: string;
  /** The assurance level the verified token carries. */
  acr?: string;
}

/** Whom a task belongs to. */
export type Owner = Pick<Caller, 'provider' | 'userId' | 'orgId'>;

/** One tool call a model asked for. */
export interface ToolCall {
  /** Unique within the task; the same when an idempotent call runs again. */
  id: string;
  tool: string;
  args: JsonObject;
  /** Lower-case hex SHA-256 of the RFC 8785 form of `args`. */
  argsSha256: string;
  /** What the model asked for, before MODIFY; absent where that is `args`, and once the call has ended. */
  asked?: JsonObject;
  /** Digest of the definition of the tool that the model was offered; absent where it was offered none, and once the call has ended. */
  offered?: string;
  /** Why the arguments the model gave could not be taken; `args` is then empty and the call is denied. */
  fault?: string;
  /** Why the call may not even wait for a decision; it is denied. */
  refused?: string;
}

/** A call of a task that started (docs/contract/task.md). */
export interface RanCall {
  tool: string;
  callId: string;
  argsSha256: string;
  /** The beginning of its arguments as JSON, for a model to read. */
  args: string;
  /** `unknown` when the call was cut off; `withheld` when the rules for output blocked its result. */
  outcome: 'succeeded' | 'failed' | 'withheld' | 'unknown';
  /** Epoch milliseconds of its start. */
  at: number;
  /** Who released it; absent when nobody had to. */
  approver?: string;
  /** True when it started in an earlier run of the task or its session. */
  isEarlier?: true;
}

/** Why a provider cut the turn of a model: it was too long, or a filter of the provider held its rest back. */
export type CutReason = 'length' | 'content_filter';

/** A call that runs waits at another program for a person there. */
export interface WaitElsewhere {
  /** The name that the agent has for the program, such as that of an MCP server. */
  at: string;
  /** Who is asked there, in the words of the program. */
  for: string;
  /** When the wait ends, in the words of the program; absent where it does not say. */
  until?: string;
}

/** What a call came to besides its text. */
export interface ResultExtras {
  /** The result as data. */
  structured?: JsonValue;
  /** Pictures, sounds and files as content blocks of MCP. */
  parts?: JsonObject[];
}

/** A tool call that has ended, with what the model is told of it; the extras are kept for MCP clients alone. */
export interface Exchange extends ResultExtras {
  call: ToolCall;
  result: string;
  /** True when `result` is an error: the tool failed, or the call could not be run as it was asked. */
  failed?: true;
  /** What the approver of the call wrote for the model; absent when nothing. */
  approval?: Pick<SettledDeferral, 'approver' | 'note'>;
}

/** What a provider wants told back beside a part, such as a signature: texts by key, by the name of its wire. */
export interface PartMetadata {
  [wire: string]: { [key: string]: string };
}

/** A part of what a model said in one turn; each `call` stands for the next of its calls. */
export type SaidPart = { metadata?: PartMetadata } & (
  | { kind: 'text' | 'thought'; text: string }
  | { kind: 'call' }
);

/** What a model said in a turn that asked for calls. */
export interface SaidTurn {
  /** How many exchanges of the run came before its calls. */
  after: number;
  /** Who said it: what a provider signed is told back to it alone. */
  by: ModelSpeaker;
  /** In their order; empty when they are not kept any more. */
  parts: SaidPart[];
}

/** What somebody said to a task while a call of it waited. */
export interface FollowUp {
  message: Message;
  /** How many exchanges of the run the model hears of before it. */
  after: number;
  /** Who said it; `null` without authentication. */
  sender: Pick<Caller, 'provider' | 'userId' | 'email'> | null;
}

/** One approval of a deferral that needs several. */
export interface Approval {
  approver: string;
  /** Epoch milliseconds. */
  at: number;
  /** Who gave it; absent without authentication. */
  caller?: Pick<Caller, 'provider' | 'userId' | 'email'>;
}

/** What somebody wrote to a task while a call of it waits, as approvers are shown it. */
export interface HeldMessage {
  /** Who wrote it, by email or name; `null` when that is not known. */
  from: string | null;
  text: string;
  /** Epoch milliseconds; absent when the way it came tells none. */
  at?: number;
}

/** A tool call that waits for a named person's release (docs/contract/decisions.md, docs/contract/task.md). */
export interface Deferral {
  /** The id of the call that is held. */
  id: string;
  tool: string;
  args: JsonObject;
  /** Binds the decision to the arguments: what is approved is what runs. */
  argsSha256: string;
  /** Digest of everything that decides what the call would do; absent in what older releases kept. */
  runsSha256?: string;
  /** An equal call of the session that ran before; absent when there is none. */
  repeats?: Pick<RanCall, 'callId' | 'at' | 'approver'>;
  /** Who is asked, for people to read: the targets, joined. */
  to: string;
  /** `channel:<adapter>:<target>` of each one that is asked; left out by versions that asked one alone. */
  targets?: readonly string[];
  /** Milliseconds. */
  timeout: number;
  context: string;
  /** The arguments as people and logs are shown them: what the redaction rules find is replaced. Absent in older ones. */
  shown?: JsonObject;
  /** What was written since the call waits, oldest first; absent while nothing was. */
  messages?: readonly HeldMessage[];
  /** How often its caller has asked for this very call, all of which wait for one decision; absent for once. */
  requests?: number;
  /** Normalised allowlist; `null` when none applies, an empty list when nobody can match. */
  approvers: string[] | null;
  quorum: number;
  fourEyes: boolean;
  bindApprover: boolean;
  /** True when approvals of a quorum must come from different callers, too. */
  distinctCallers: boolean;
  /** What a rejection leads to: the end of the task, or a result that the model is told of. */
  onReject: 'fail' | 'tool_result';
  approvals: Approval[];
  /** Epoch milliseconds, as are the times below. */
  requestedAt: number;
  /** When approvers are reminded; `null` when they are not. */
  remindAt: number | null;
  /** When another target is asked as well; `null` when none is. */
  escalateAt: number | null;
  /** `channel:<adapter>:<target>` that is asked as well; `null` when none is. */
  escalateTo: string | null;
  expiresAt: number;
}

/** How far the asking for a release has gone. */
export const deferralStages = ['asked', 'reminded', 'escalated'] as const;

export type DeferralStage = (typeof deferralStages)[number];

/** The decision that ended a deferral; kept so that a later one is told who was first. */
export interface SettledDeferral {
  id: string;
  tool: string;
  argsSha256: string;
  decision: 'approve' | 'reject';
  approver: string;
  note: string;
  /** Who could have decided instead, as the deferral listed them; absent in older ones. */
  approvers?: string[] | null;
  /** Epoch milliseconds. */
  decidedAt: number;
}

/** The layers of governance, in the order in which a task and each of its calls meet them. */
export type Layer =
  | 'prompt'
  | 'alignment'
  | 'assurance'
  | 'modify'
  | 'defer'
  | 'credentials'
  | 'output';

/** What one governance layer said about one call; about the message itself where there is no call. */
export interface DecisionRecord {
  callId: string | null;
  tool: string | null;
  layer: Layer;
  decision: 'allow' | 'deny' | 'modify' | 'step_up' | 'defer';
  reason: string;
  /** Milliseconds the layer took, to the microsecond; the wait for a person is not among them. */
  duration: number;
  /** What MODIFY changed of the arguments. */
  changes?: ArgumentChange[];
}

/**
 * What became of one argument, each as JSON without secrets; a text that is too long says how long it is. Neither is
 * there where there was no value.
 */
export interface ArgumentChange {
  /** In dots, as the rules write it: `items.0.price`. */
  path: string;
  before?: string;
  after?: string;
}

/** Why a task failed. `text` is what the caller reads; the rest lets a program tell the cases apart. */
export type Failure =
  | { kind: 'model'; text: string }
  | { kind: 'turnLimit' | 'errorLimit' | 'tokenLimit' | 'timeLimit'; text: string }
  /** `isOverLimit` is true where too many calls of its caller wait already. */
  | { kind: 'denied'; text: string; tool: string | null; layer: Layer; isOverLimit?: true }
  | {
      kind: 'stepUp';
      text: string;
      tool: string;
      requiredAcr: string;
      /** `null` when the caller had no acr claim. */
      presentedAcr: string | null;
      reason: string;
    }
  | { kind: 'tool'; text: string; tool: string }
  | { kind: 'rejected'; text: string; tool: string }
  | { kind: 'timedOut'; text: string; tool: string }
  | { kind: 'abandoned'; text: string; tool: string }
  | { kind: 'interrupted'; text: string }
  | { kind: 'internal'; text: string };

/** What the models of a run took, as their providers count it; `duration` is the milliseconds of their turns. */
export interface Usage {
  /** The model that spoke last. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  duration: number;
}

/** In which words a task was asked for, and is told to whoever reads it without saying theirs. */
export type Surface = 'legacy' | 'a2a' | 'mcp';

/** What the outside may know of a task: derived from its chart, stored beside its snapshot. */
export interface Task {
  id: string;
  contextId: string;
  state: TaskState;
  /** What the state says in words, such as the answer, the error or what is awaited. */
  text: string | null;
  /** Epoch milliseconds of the last change of `state` or `text`. */
  changedAt: number;
  createdAt: number;
  /** Counts committed changes, and the states passed between them; an event stream is resumed from it. */
  revision: number;
  /** What was said, as far as it is kept: the newest of it (docs/contract/task.md). */
  history: Message[];
  /** How many messages before those were left out; absent when none was. */
  leftOut?: number;
  /** The parts of the answer of a completed task. */
  answer: Part[] | null;
  /** What the call of an MCP client came to besides its text; absent for nothing. */
  extras?: ResultExtras;
  /** Why the provider cut the answer; absent for a whole one. */
  cut?: CutReason;
  /** Who asked for the latest run. */
  requester: Caller | null;
  /** Whom it belongs to; absent while that is who asked. */
  owner?: Owner | null;
  surface: Surface;
  deferral: Deferral | null;
  /** How far the asking has gone; `null` unless the task is deferred. */
  stage: DeferralStage | null;
  /** Epoch milliseconds at which a parked task has something to do; `null` for any other. */
  wakeAt: number | null;
  settled: SettledDeferral | null;
  failure: Failure | null;
  records: DecisionRecord[];
  /** The calls that started, with the newest of earlier runs and of the session, oldest first; absent for none. */
  ran?: RanCall[];
  /** What everything reported of the latest run carries besides; absent for nothing. */
  tags?: Record<string, string>;
  /** The wait of the call that runs; absent while it works. */
  waits?: WaitElsewhere;
  /** What the models of the latest run took; absent before its first turn. */
  usage?: Usage;
}

/**
 * Returns the state that callers see: a task whose call waits for a person at another program is deferred as well.
 * Its own state stays `working`, as the daemon still runs the call.
 */
export function shownState({ state, waits }: Pick<Task, 'state' | 'waits'>): TaskState {
  return waits === undefined ? state : 'deferred';
}

/** True for a task that has ended or waits for a person. */
export function isStanding(task: Pick<Task, 'state' | 'waits'>): boolean {
  return isFinal(task.state) || shownState(task) === 'deferred';
}

/** True for the states nothing leaves. */
export function isFinal(state: TaskState): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled';
}
