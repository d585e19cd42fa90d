import type { Dispatcher } from 'undici';
import type { Compaction } from '../machines/conversation/compaction.ts';
import type { JsonObject, JsonValue } from '../machines/json.ts';
import type {
  Caller,
  CutReason,
  Exchange,
  FollowUp,
  Message,
  RanCall,
  ResultExtras,
  SaidPart,
  SaidTurn,
  WaitElsewhere,
} from '../machines/task/task.ts';
import type { FailedModelCall } from '../machines/task/task-events.ts';

/** Epoch milliseconds that no change of the wall clock can move back, and timers on the same scale. */
export interface Clock {
  now(): number;
  setTimeout(run: () => void, milliseconds: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** Where new identifiers come from. */
export interface Ids {
  /** A UUIDv7 in lower case. */
  next(): string;
}

/** The daemon's own log; never given secrets or what callers said. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What a request shows of who sent it; `null` for what it does not carry. */
export interface Credentials {
  /** The token of `Authorization: Bearer`. */
  bearer: string | null;
  /** What an identity-aware proxy put into `X-Cloud-Iap-Jwt-Assertion`. */
  iapAssertion: string | null;
  /** The organisation the request says it is for; a wish, not an identity. */
  orgId: string | null;
}

/** The kind of credential that was verified (docs/contract/authentication.md). */
export type TokenKind = 'none' | 'bearer' | 'jwt' | 'iap' | 'sigv4' | 'runtime';

/**
 * Why nobody was let in (docs/contract/authentication.md): nothing was shown; what was shown is known to nobody or its
 * owner may not come in; it is false, too old or for somebody else; or its provider cannot be asked.
 */
export type AuthFailure = 'missing_token' | 'rejected' | 'invalid' | 'provider_unavailable';

/** What an authentication chain says about a request; `anonymous` only while authentication is off. */
export type Verification =
  | { kind: 'verified'; caller: Caller; tokenKind: TokenKind }
  | { kind: 'anonymous' }
  | { kind: 'rejected'; reason: AuthFailure; message: string; tokenKind: TokenKind };

/** The authentication chain (docs/contract/authentication.md). */
export interface Authenticator {
  /** Verifies what a request shows. Never rejects. */
  verify(credentials: Credentials): Promise<Verification>;
}

/**
 * The versions of A2A that the agent card is written in; `hybrid` is for whoever says none
 * (docs/contract/agent-card.md).
 */
export type CardVersion = 'hybrid' | '0.3.0' | '1.0';

/** An agent card as it is sent. */
export interface PublishedCard {
  /** JSON in UTF-8. */
  body: Buffer;
  /** A strong entity tag, in its quotes. */
  etag: string;
}

/** Where the agent card comes from. */
export interface CardSource {
  /**
   * The card as it stands now; `null` until the agent knows its address. The REST surface of 0.3.0 has readers who
   * know its schemes by the names of 1.0 alone, so `forRest` each has both.
   */
  current(version: CardVersion, forRest?: boolean): PublishedCard | null;
}

/** How quickly one address may call the daemon (docs/contract/configuration.md). */
export interface RateLimits {
  /** Requests a second that only read. */
  readRps: number;
  readBurst: number;
  /** Requests a second that may change something. */
  writeRps: number;
  writeBurst: number;
  /** True lets a task be cancelled however often the address has called. */
  cancelExempt: boolean;
  /** Addresses, networks and named ranges of proxies whose `X-Forwarded-For` is believed. */
  trustedProxies: readonly string[];
}

/** One line of the audit log before it is chained (docs/contract/audit.md). Empty envelope keys are left out. */
export interface AuditEvent {
  event: string;
  /** RFC 3339 UTC with milliseconds. */
  ts: string;
  seq?: number;
  correlation_id?: string;
  task_id?: string;
  workflow_id?: string;
  workflow_execution_id?: string;
  stage_id?: string;
  step_id?: string;
  invocation_caller?: string;
  org_id?: string;
  workspace_id?: string;
  entity_id?: string;
  entity_type?: string;
  trace_id?: string;
  span_id?: string;
  fields?: { [key: string]: JsonValue | undefined };
}

/** What a model is given for one turn. */
export interface Conversation {
  taskId: string;
  /** Earlier messages of the task, oldest first. */
  history: Message[];
  /** The message that started this run. */
  request: Message;
  /** The calls that started, in earlier runs and in this one, oldest first; absent for none. */
  ran?: RanCall[];
  /** Tool calls of this run that have ended, oldest first. */
  exchanges: Exchange[];
  /** What the model said in the turns that asked for those calls, oldest first; a call that none names stands alone. */
  said: SaidTurn[];
  /** What was said while calls of this run waited, oldest first; each has its place behind `after` exchanges. */
  followUps: FollowUp[];
  /** Model turns already taken in this run. */
  turns: number;
  /** How many exchanges, and what was said until then, earlier turns told of; all of them when absent. */
  told?: number;
  /** How many tokens the provider counts for each that is estimated; 1 when absent. */
  tokensPerEstimate?: number;
}

/** What a model says in one turn: tool calls, or the answer when there are none. */
export interface Turn {
  text: string;
  /** Models give what they like as arguments; governance denies what is no object. */
  calls: AskedCall[];
  /** Why the provider ended the turn, in its words; absent where it says nothing. */
  finishReason?: string;
  /** Why the provider cut the turn; absent for a whole one. */
  cut?: CutReason;
  /** In which order they were said, and what the provider wants told back; absent where nobody tells. */
  parts?: SaidPart[];
  inputTokens: number;
  outputTokens: number;
  /** How many input tokens were estimated beforehand; absent where nobody did. */
  estimatedTokens?: number;
  /** The model that answered, in the words of the provider; absent where it does not say. */
  answeredBy?: string;
  /** Which model answered, where several may; the one that was asked when absent. */
  by?: ModelCall;
}

/** A call as a model asks for it. */
export interface AskedCall {
  tool: string;
  args: JsonValue;
  /** The JSON of `args` as it came, be it malformed; absent where it came read. */
  written?: string;
}

/** One call to a model; `duration` is milliseconds. */
export interface ModelCall {
  provider: string;
  model: string;
  /** A digest of the address that was asked; absent where there is none. */
  endpoint?: string;
  duration: number;
}

/** Who hears of a turn while it is taken. */
export interface ModelListener {
  /** Hears the text as it comes. */
  onToken: (text: string) => void;
  /** Hears of each call that failed, with what was wrong in words for the caller. */
  onFailedCall?: (call: FailedModelCall) => void;
  /** Hears what the model is not told to stay within its budget. */
  onCompacted?: (compaction: Compaction) => void;
}

/** A model behind one provider. */
export interface LanguageModel {
  readonly provider: string;
  readonly name: string;
  /** Takes one turn. Rejects with a ModelError whose message the caller reads, or with the reason of the signal. */
  next(conversation: Conversation, options: ModelListener & { signal: AbortSignal }): Promise<Turn>;
}

/** A failure of a model in words for the caller; anything else a model throws is a defect. */
export class ModelError extends Error {
  readonly code = 'model_failed';
}

/** What a tool is told about the call it serves. */
export interface ToolRun {
  taskId: string;
  callId: string;
  correlationId: string;
  /** Whose work the call is part of, such as `workflow_id` (docs/contract/correlation.md). */
  tags: Record<string, string>;
  /** What the call may sign in with elsewhere, for as long as it runs; `null` when it needs nothing. */
  credential: ToolCredential | null;
  signal: AbortSignal;
  /**
   * Compares what would run with what was approved, and rejects when it is something else; absent for a call that nobody
   * had to approve. A tool with an identity calls it right before the call starts.
   */
  confirm?: () => Promise<void>;
  /** Hears that the call waits at another program for a person there, and with `null` that it does no more. */
  onWait?: (wait: WaitElsewhere | null) => void;
  /** Receives what the result has besides its text, before the call resolves; the text holds the data as well. */
  onExtras?: (extras: ResultExtras) => void;
  /** Receives how far the call has come, as the program that works on it reports that. */
  onProgress?: (report: ToolProgress) => void;
  /** The egress of a tool; without it nothing can be reached. */
  outbound?: ToolOutbound;
}

/** How far a call has come, in the words of the program that works on it. */
export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** The credentials of one call; its values show neither in JSON nor when inspected. */
export interface ToolCredential {
  /** Variables for the environment of a script. */
  env(): Record<string, string>;
  /** What must not show in anything the tool says. */
  secretValues(): string[];
}

/** A tool the agent may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** What the MCP server of the tool says of its behaviour; clients are shown it, and nothing here relies on it. */
  readonly annotations?: JsonObject;
  /** JSON Schema of `structured`, as the MCP server of the tool states it. */
  readonly outputSchema?: JsonObject;
  /** True when running it twice under one call id is harmless. */
  readonly idempotent: boolean;
  /** Returns what is wrong with some arguments, in one sentence; `null` when they will do. */
  check?(args: JsonObject): string | null;
  /**
   * Returns everything that decides what a call does besides its arguments, such as code and settings, as it is now: an
   * approval is bound to it (docs/contract/governance.md). Rejects when it cannot be read. When left out, the tool is
   * what its description and parameters are. A tool that has one calls `confirm` of its runs.
   */
  identity?(): Promise<JsonValue>;
  /** Runs the call and resolves with its result as text. Rejects with a ToolError whose message the caller reads. */
  run(args: JsonObject, run: ToolRun): Promise<string>;
}

/** A failure of a tool in words for the caller; anything else a tool throws is a defect. */
export class ToolError extends Error {
  readonly code = 'tool_failed';
  readonly #kind: string;

  constructor(message: string, options: ErrorOptions & { kind?: string } = {}) {
    super(message, options);
    this.#kind = options.kind ?? 'failed';
  }

  /**
   * What kind of failure it is, for a log that holds nothing of what was said: no word of the tool, the caller or the
   * model.
   */
  get kind(): string {
    return this.#kind;
  }
}

/** How freely the agent may reach out (docs/contract/egress.md). */
export type EgressMode = 'deny-all' | 'allowlist' | 'dev-open';

/** On whose behalf something goes out; `taskId` is `null` for the daemon itself. */
export interface EgressScope {
  taskId: string | null;
  correlationId: string | null;
  /** Whose work it is part of, such as `workflow_id`. */
  tags: Record<string, string>;
  /**
   * True for what the daemon itself asks while it serves a task, such as its model; a tool is not. False for a program
   * of somebody else that runs for no single task; when left out, what belongs to no task is the daemon's.
   */
  isOwn?: boolean;
  /** The skill whose script it is for; what that skill declares is open to it. */
  skill?: string;
}

/** What the egress policy said about one hop. */
export interface EgressRecord {
  /** `null` for the daemon itself. */
  scope: EgressScope | null;
  /** The host in lower case, without its port. */
  domain: string;
  mode: EgressMode;
  /** Why it was blocked; `null` when it was allowed. */
  reason: string | null;
}

/** The egress of the daemon: the egress policy rules on whatever is sent through it (docs/contract/egress.md). */
export interface Outbound {
  fetch: typeof globalThis.fetch;
  dispatcher: Dispatcher;
  /** Opens a host to the daemon that an issuer has named; it must be public, as the operator has not named it. */
  discovered?: (endpoint: { host: string; port: number; source: string }) => void;
}

/** An egress that tells on whose behalf something is sent. */
export interface ScopedOutbound extends Outbound {
  /** Attributes whatever `run` sends to a scope. */
  within<Result>(scope: EgressScope, run: () => Result): Result;
}

/** The egress of a tool, which may ask on the daemon's own behalf for what the operator's settings of the tool name. */
export type ToolOutbound = Outbound & Partial<Pick<ScopedOutbound, 'within'>>;

/** A receiver of push notifications for one task (docs/contract/a2a.md). */
export interface PushTarget {
  taskId: string;
  /** Unique within the task. */
  id: string;
  url: string;
  /** What the receiver knows the notification by; empty for none. */
  token: string;
  /** How to sign in at the receiver; `null` when it wants nothing. */
  authentication: { scheme: string; credentials: string } | null;
  /** The version of A2A that it was set in, and is told in. */
  version: string;
}

/** A receiver of push notifications that may not be kept; the message says why. */
export class PushTargetError extends Error {
  readonly code = 'push_target_refused';
}

/** Who is told what becomes of which task. */
export interface PushTargets {
  /** Keeps a receiver in the place of one with the same id. Rejects with PushTargetError. */
  set(target: PushTarget): Promise<PushTarget>;
  /** Returns a receiver of a task. */
  find(taskId: string, id: string): Promise<PushTarget | undefined>;
  /** Returns the receivers of a task, by their ids. */
  list(taskId: string): Promise<PushTarget[]>;
  /** Forgets a receiver; returns whether there was one. */
  delete(taskId: string, id: string): Promise<boolean>;
}

/** A push notification as it goes over the wire. */
export interface PushNotification {
  body: string;
  contentType: string;
}
