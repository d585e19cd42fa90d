import type { JsonObject, JsonValue } from '../json.ts';
import type { Hold } from './hold.ts';
import type { FirstEffect, LedgerEntry, MeasuredLimit, RepeatedCall } from './ledger.ts';
import type { ModelSpeaker } from './model-speaker.ts';
import type { OptionTerms } from './rule-options.ts';

/** One piece of a message; exactly one of `uri` and `bytes` is set on a file. */
export type Part = Annotated &
  (
    | { kind: 'text'; text: string }
    | { kind: 'data'; data: JsonValue }
    | { kind: 'file'; file: { name?: string; mimeType?: string; uri?: string; bytes?: string } }
  );

/** What a client adds to a message or a part for itself. No model and no rule reads it. */
interface Annotated {
  metadata?: JsonObject;
}

/** A message from a caller or the agent. */
export interface Message extends Annotated {
  role: 'user' | 'agent';
  parts: Part[];
  messageId: string;
  /** The role that the sender specified, if it is not the role that the message counts as. */
  sentAs?: 'agent';
  /** The sender; absent for the agent and without authentication. */
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

/** Location of a completed task's answer: in its artifact, in its status message, or in both. */
export const answerPlaces = ['artifact', 'status', 'both'] as const;

export type AnswerPlace = (typeof answerPlaces)[number];

/** The sender of a task or a decision, as established by the authentication chain. */
export interface Caller {
  /** The provider's name; `runtime` is the daemon's own token, `chat` a chat user. */
  provider: string;
  userId: string;
  email?: string;
  orgId?: string;
  workspaceId?: string;
  /** The assurance level in the verified token. */
  acr?: string;
  /** The groups in the verified token, if rules read them; absent if it names none. */
  groups?: readonly string[];
  /** The claims of the verified token that rules read; absent for none. */
  claims?: JsonObject;
}

/** The owner of a task. */
export type Owner = Pick<Caller, 'provider' | 'userId' | 'orgId'>;

/** A tool call requested by a model. */
export interface ToolCall {
  /** Unique within the task; unchanged when an idempotent call runs again. */
  id: string;
  tool: string;
  args: JsonObject;
  /** Lower-case hex SHA-256 of the RFC 8785 form of `{tool, args}`. */
  argsSha256: string;
  /** The model's arguments before MODIFY; absent if equal to `args`, and after the call has ended. */
  asked?: JsonObject;
  /** Digest of the tool definition offered to the model; absent if none was offered, and after the call has ended. */
  offered?: string;
  /** Changes that approvers made to the arguments, oldest first; absent for none. */
  edits?: readonly CallEdit[];
  /** Digest of the policy that ruled on the call; absent before its ruling, and after the call has ended. */
  policySha256?: string;
  /** Digest of what would run, as stated by the program that runs it; absent for a call that runs here. */
  runsSha256?: string;
  /** The reason why the model's arguments are invalid; `args` is then empty and the call is denied. */
  fault?: string;
  /** The reason why the call may not even be held; the call is denied. */
  refused?: string;
  /** The task of another program that continues the started call; absent for none, and after the call has ended. */
  remote?: RemoteTask;
  /** What the ledger reserved for the call; absent without limits and effects, and after the call has ended. */
  reserved?: readonly LedgerEntry[];
}

/**
 * A task of another program that continues a call, such as one of an MCP server. Its id may entitle to its result, so
 * it is stored only with the run and never displayed.
 */
export interface RemoteTask {
  id: string;
  /** Digest of what identifies the program; the id is sent to no other. */
  place: string;
  /** Epoch milliseconds at which the program created it. */
  since: number;
  /** Milliseconds for which the program keeps it; `null` if unlimited. */
  ttl: number | null;
}

/** A started call of a task (docs/contract/task.md). */
export interface RanCall {
  tool: string;
  callId: string;
  argsSha256: string;
  /** The start of its arguments as JSON, for a model. */
  args: string;
  /**
   * `unknown` if the call was cut off; `withheld` if the output rules blocked its result; `not_run` if another program
   * received the call and reported that it did not run.
   */
  outcome: 'succeeded' | 'failed' | 'withheld' | 'unknown' | 'not_run';
  /** How a `withheld` call ended; absent if it succeeded. */
  of?: 'failed' | 'unknown' | 'not_run';
  /** Start in epoch milliseconds. */
  at: number;
  /** The approver who released it; absent if no release was needed. */
  approver?: string;
  /** Names of the output rules that matched its result; absent for none. */
  labels?: string[];
  /** What it adds to limits and effects; absent for nothing. */
  reserved?: readonly LedgerEntry[];
  /** True if it started in an earlier run of the task or its session. */
  isEarlier?: true;
}

/** The reason why a provider truncated a model turn: maximum length, or the provider's content filter. */
export type CutReason = 'length' | 'content_filter';

/** A running call that waits for a person at another program. */
export interface WaitElsewhere {
  /** The agent's name for the program, such as an MCP server's name. */
  at: string;
  /** The approver there, as the program describes it. */
  for: string;
  /** The end of the wait, as the program describes it; absent if unknown. */
  until?: string;
}

/** A call's result in addition to its text. */
export interface ResultExtras {
  /** The result as data. */
  structured?: JsonValue;
  /** Images, audio and files as MCP content blocks. */
  parts?: JsonObject[];
}

/**
 * A finished tool call and its result for the model. Its data is kept only for MCP clients, its files also for the answer
 * of a model.
 */
export interface Exchange extends ResultExtras {
  call: ToolCall;
  result: string;
  /** True if `result` is an error: the tool failed, or the call could not run as requested. */
  failed?: true;
  /** The approver's note to the model; absent if there is none. */
  approval?: Pick<SettledDeferral, 'approver' | 'note'>;
}

/**
 * Provider data that must be sent back with a part, such as a signature: texts by key, by the name of the provider's
 * wire format.
 */
export interface PartMetadata {
  [wire: string]: { [key: string]: string };
}

/** A part of a model's output in one turn; each `call` represents the next of its calls. */
export type SaidPart = { metadata?: PartMetadata } & (
  | { kind: 'text' | 'thought'; text: string }
  | { kind: 'call' }
);

/** A model's output in a turn that requested calls. */
export interface SaidTurn {
  /** Number of the run's exchanges before its calls. */
  after: number;
  /** The model that produced it. Data signed by a provider is sent back only to that provider. */
  by: ModelSpeaker;
  /** In order; empty if no longer stored. */
  parts: SaidPart[];
}

/** A message sent to a task while one of its calls was held. */
export interface FollowUp {
  message: Message;
  /** Number of the run's exchanges that the model receives before it. */
  after: number;
  /** The sender; `null` without authentication. */
  sender: Pick<Caller, 'provider' | 'userId' | 'email'> | null;
}

/** One approval of a deferral that needs several. */
export interface Approval {
  approver: string;
  /** Epoch milliseconds. */
  at: number;
  /** The approver's identity; absent without authentication. */
  caller?: Pick<Caller, 'provider' | 'userId' | 'email'>;
  /** The entries of approver lists that the approver fulfilled, such as `group:finance`; absent for none. */
  as?: readonly string[];
  /** Those of `as` that the approver's token vouched for; absent for none. */
  byToken?: readonly string[];
  /** Email of the person who delegated this decision to the approver; absent for the approver's own right. */
  for?: string;
  /** True if a passkey of the approver confirmed the approval. */
  passkey?: true;
}

/** A change that an approver made to the arguments of a held call. */
export interface CallEdit extends Approval {
  /** The deferral of the call as it was before. */
  deferralId: string;
  /** Digests of the call before, named as in a call. */
  before: Pick<ToolCall, 'argsSha256'>;
  after: Pick<ToolCall, 'argsSha256'>;
  changes: ArgumentChange[];
}

/** A message sent to a task while one of its calls is held, as displayed to approvers. */
export interface HeldMessage {
  /** Email or name of the sender; `null` if unknown. */
  from: string | null;
  text: string;
  /** Epoch milliseconds; absent if the channel gives no time. */
  at?: number;
}

/** How long, in milliseconds, and how often an approval may count for later calls. */
export interface RememberLimits {
  time: number;
  uses: number;
}

/** The terms under which a call waits: how long, which people may decide, and what a decision needs. */
export interface WaitTerms extends OptionTerms {
  /** Timeout in milliseconds. */
  timeout: number;
  /** Normalised allowlist of emails and entries such as `group:finance`; `null` for none, empty if no one can match. */
  approvers: string[] | null;
  /** Further lists, each of which must list the approver; absent for none. */
  alsoBy?: readonly (readonly string[])[];
  quorum: number;
  /** Approvals needed by entry, such as `group:legal`; absent if any approver counts. */
  quorumOf?: Readonly<Record<string, number>>;
  bindApprover: boolean;
  /** Keeps the programs that ask a gate from deciding on its calls; absent elsewhere, and without sign-in. */
  separation?: Separation;
  /** True if the approvals of a quorum must also come from different callers. */
  distinctCallers: boolean;
  /** The effect of a rejection: the task fails, or the model receives the rejection as a result. */
  onReject: 'fail' | 'tool_result';
  /** The model receives the timeout as a result; if absent, the task fails. */
  onTimeout?: 'tool_result';
  /** Limits of an approval that counts for later calls; absent if none does. */
  remember?: RememberLimits;
  /**
   * Additional target, `channel:<adapter>:<target>`; `null` for none. Of a deferral with stages it is the current one, of a
   * rule the first.
   */
  escalateTo: string | null;
  /** The stages of the escalation, in order; absent for a single target. */
  escalations?: readonly EscalationStage[];
}

/** A tool call waiting for release by a named approver (docs/contract/decisions.md, docs/contract/task.md). */
export interface Deferral extends WaitTerms {
  /** ID of the deferral. */
  id: string;
  tool: string;
  args: JsonObject;
  /** Binds the decision to the call: exactly the approved arguments run. */
  argsSha256: string;
  /** Digest of everything that determines the call's effect. */
  runsSha256?: string;
  /** Changes that approvers made to the arguments, oldest first; absent for none. */
  edits?: readonly CallEdit[];
  /** An equal call that ran earlier; absent if there is none. `requester` is absent for a call of the same session. */
  repeats?: Pick<RanCall, 'callId' | 'at' | 'approver'> & { requester?: FirstEffect['requester'] };
  /** The limits that apply to the call, as they were when people were asked; absent for none. */
  limits?: readonly MeasuredLimit[];
  /** The earlier call with the same effect; absent if there is none. */
  first?: FirstEffect;
  /** Display text of the approvers: the joined targets. */
  to: string;
  /** The targets to ask, each `channel:<adapter>:<target>`. */
  targets: readonly string[];
  context: string;
  /** What is wrong with the name of the tool; absent for a listed tool. */
  hint?: string;
  /** The arguments as displayed and logged, with matches of the redaction rules replaced. Absent in older data. */
  shown?: JsonObject;
  /** Messages sent while the call is held, oldest first; absent if there are none. */
  messages?: readonly HeldMessage[];
  /** Number of times the caller has requested this call, all waiting for one decision; absent for one. */
  requests?: number;
  /** True if the client of the caller has answered the address of the page on which people decide. */
  isLinkShown?: true;
  approvals: Approval[];
  /** Epoch milliseconds, like the times below. */
  requestedAt: number;
  /** Time of the reminder; `null` for none. */
  remindAt: number | null;
  /** Time at which a second target is asked; `null` for none. */
  escalateAt: number | null;
  expiresAt: number;
}

/** A stage of an escalation: a target, and the milliseconds from the request until it is asked. */
export interface EscalationStage {
  to: string;
  after: number;
}

/** The stages of asking for a release. */
export const deferralStages = ['asked', 'reminded', 'escalated'] as const;

export type DeferralStage = (typeof deferralStages)[number];

/** The decision that ended a deferral, stored so that a later attempt receives the first decision. */
export interface SettledDeferral {
  id: string;
  tool: string;
  argsSha256: string;
  decision: 'approve' | 'reject';
  approver: string;
  /** Email of the person who delegated the decision; absent for the approver's own right. */
  for?: string;
  note: string;
  /** The approvers listed in the deferral; absent in older data. */
  approvers?: string[] | null;
  /** The change that the approval made to the arguments; absent for none. */
  edit?: CallEdit;
  /** The deferral under which the changed call is held again; absent if it is not. */
  heldAgainAs?: string;
  /** Epoch milliseconds. */
  decidedAt: number;
}

/** The outcome of an approved call; `unknown` if it started and was cut off. */
export type CallOutcome =
  | { kind: 'ran' | 'neverRan' | 'unknown' }
  /** `error` is truncated. */
  | { kind: 'failed'; error: string };

/**
 * Callers that may not decide on the calls of a gate: the one that asked, and programs. The daemon's own token may. A
 * caller without a verified email is a program.
 */
export interface Separation {
  /** Providers of static tokens, which identify programs. */
  programs: readonly string[];
  /** Providers of static tokens that may decide, also without an email. */
  deciders: readonly string[];
}

/** A decision that ended a deferral, and the outcome of the call. */
export interface DecidedCall extends Omit<SettledDeferral, 'approvers' | 'heldAgainAs'> {
  /** The callers whose decision counted; `null` for a caller without authentication. */
  by: (NonNullable<Approval['caller']> | null)[];
  /** Absent while unknown, and for a rejected call. */
  outcome?: CallOutcome;
}

/** The governance layers in the order in which they evaluate a task and its calls. */
export type Layer =
  | 'prompt'
  | 'alignment'
  | 'assurance'
  | 'modify'
  | 'defer'
  | 'credentials'
  | 'output';

/** One governance layer's decision on one call, or on the message itself if there is no call. */
export interface DecisionRecord {
  callId: string | null;
  tool: string | null;
  layer: Layer;
  decision: 'allow' | 'deny' | 'modify' | 'step_up' | 'defer';
  reason: string;
  /** Name of the rule that decided, such as `defer.tools.issue_refund[1]`; absent if no named rule did. */
  rule?: string;
  /** Duration of the layer in milliseconds, to the microsecond, without waits for people. */
  duration: number;
  /** The argument changes made by MODIFY. */
  changes?: ArgumentChange[];
}

/**
 * The change of one argument, with values as JSON without secrets. A long text is truncated with its length. `before`
 * or `after` is absent if there was no value.
 */
export interface ArgumentChange {
  /** Dotted path as in the rules: `items.0.price`. */
  path: string;
  before?: string;
  after?: string;
}

/** The reason why a task failed. `text` is for the caller; the other fields let programs distinguish the cases. */
export type Failure =
  | { kind: 'model'; text: string }
  | { kind: 'turnLimit' | 'errorLimit' | 'tokenLimit' | 'timeLimit'; text: string }
  /** `isOverLimit` is true if too many calls of the caller are already waiting. */
  | {
      kind: 'denied';
      text: string;
      tool: string | null;
      layer: Layer;
      isOverLimit?: true;
      /** The earlier call with the same effect; absent unless the call was denied for it. */
      repeats?: RepeatedCall;
    }
  | {
      kind: 'stepUp';
      text: string;
      tool: string;
      requiredAcr: string;
      /** `null` if the caller had no acr claim. */
      presentedAcr: string | null;
      reason: string;
    }
  | { kind: 'tool'; text: string; tool: string }
  | { kind: 'rejected'; text: string; tool: string }
  | { kind: 'timedOut'; text: string; tool: string }
  | { kind: 'abandoned'; text: string; tool: string }
  | { kind: 'interrupted'; text: string }
  | { kind: 'internal'; text: string };

/** The usage of a run's models as counted by their providers; `duration` is the total milliseconds of their turns. */
export interface Usage {
  /** The model of the last turn. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  duration: number;
}

/** The surface on which a task was requested. It is also the format for readers that name none. */
export type Surface = 'legacy' | 'a2a' | 'mcp' | 'hold';

/** The public view of a task: derived from its chart, stored next to its snapshot. */
export interface Task {
  id: string;
  contextId: string;
  state: TaskState;
  /** Text of the state, such as the answer, the error or the reason of the wait. */
  text: string | null;
  /** Epoch milliseconds of the last change of `state` or `text`. */
  changedAt: number;
  createdAt: number;
  /** Counts committed changes and the states passed between them; an event stream resumes from it. */
  revision: number;
  /** The newest messages, as far as they are stored (docs/contract/task.md). */
  history: Message[];
  /** The title of a deferred task; set only in lists, which have no history. */
  title?: string;
  /** Number of earlier messages that were dropped; absent if none were. */
  leftOut?: number;
  /** The parts of a completed task's answer. */
  answer: Part[] | null;
  /** Non-text result of an MCP client's call; absent if there is none. */
  extras?: ResultExtras;
  /** The reason why the provider truncated the answer; absent for a complete one. */
  cut?: CutReason;
  /** The requester of the latest run. */
  requester: Caller | null;
  /** The owner; absent if that is the requester. */
  owner?: Owner | null;
  surface: Surface;
  deferral: Deferral | null;
  /** Stage of asking for the release; `null` unless the task is deferred. */
  stage: DeferralStage | null;
  /** Epoch milliseconds of a parked task's next action; `null` for other tasks. */
  wakeAt: number | null;
  settled: SettledDeferral | null;
  /** The newest decided calls of all runs, oldest first; absent if there are none. */
  decided?: DecidedCall[];
  failure: Failure | null;
  records: DecisionRecord[];
  /** The started calls, with the newest of earlier runs and of the session, oldest first; absent if there are none. */
  ran?: RanCall[];
  /** Tags added to everything reported of the latest run; absent if there are none. */
  tags?: Record<string, string>;
  /** The wait of the running call; absent while it is working. */
  waits?: WaitElsewhere;
  /** The usage of the latest run's models; absent before its first turn. */
  usage?: Usage;
  /** The hold of a call that another program runs; absent for every other task. */
  hold?: Hold;
  /** The deferral that released the call of a hold, until its program receives the call and the policy is applied again. */
  approved?: Deferral;
}

/**
 * Returns the state shown to callers: a task whose call waits for a person at another program is shown as deferred. Its
 * own state stays `working`, because the daemon still runs the call.
 */
export function shownState({ state, waits }: Pick<Task, 'state' | 'waits'>): TaskState {
  return waits === undefined ? state : 'deferred';
}

/** True for a task that has ended or waits for a person. */
export function isStanding(task: Pick<Task, 'state' | 'waits'>): boolean {
  return isFinal(task.state) || shownState(task) === 'deferred';
}

/** Returns true for a final state; false for an unknown one. */
export function isFinal(state: string): boolean {
  return state === 'completed' || state === 'failed' || state === 'canceled';
}
