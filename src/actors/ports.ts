import type { Dispatcher } from 'undici';
import type { Compaction } from '../machines/domain/compaction.ts';
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
} from '../machines/domain/task.ts';
import type { JsonObject, JsonValue } from '../machines/json.ts';
import type { FailedModelCall } from '../machines/task/task-events.ts';

/** Monotonic epoch milliseconds, unaffected by changes of the wall clock, and timers on the same scale. */
export interface Clock {
  now(): number;
  setTimeout(run: () => void, milliseconds: number): unknown;
  clearTimeout(handle: unknown): void;
}

/** Source of new identifiers. */
export interface Ids {
  /** A UUIDv7 in lower case. */
  next(): string;
}

/** The daemon's own log; must never receive secrets or callers' content. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Credentials of a request; `null` for each that is absent. */
export interface Credentials {
  /** The token of `Authorization: Bearer`. */
  bearer: string | null;
  /** `X-Cloud-Iap-Jwt-Assertion`, as set by an identity-aware proxy. */
  iapAssertion: string | null;
  /** The organisation that the request names; unverified. */
  orgId: string | null;
}

/** The kind of credential that was verified (docs/contract/authentication.md). */
export type TokenKind = 'none' | 'bearer' | 'jwt' | 'iap' | 'sigv4' | 'runtime';

/**
 * Why authentication failed (docs/contract/authentication.md). `missing_token`: no credentials. `rejected`: unknown
 * credentials, or their owner is not allowed. `invalid`: forged, expired or for another audience.
 * `provider_unavailable`: the provider cannot be reached.
 */
export type AuthFailure = 'missing_token' | 'rejected' | 'invalid' | 'provider_unavailable';

/** Result of the authentication chain; `anonymous` only while authentication is off. */
export type Verification =
  | { kind: 'verified'; caller: Caller; tokenKind: TokenKind }
  | { kind: 'anonymous' }
  | { kind: 'rejected'; reason: AuthFailure; message: string; tokenKind: TokenKind };

/** The authentication chain (docs/contract/authentication.md). */
export interface Authenticator {
  /** Verifies the credentials of a request. Never rejects. */
  verify(credentials: Credentials): Promise<Verification>;
}

/** A2A versions of the agent card; `hybrid` is for clients that name no version (docs/contract/agent-card.md). */
export type CardVersion = 'hybrid' | '0.3.0' | '1.0';

/** An encoded agent card. */
export interface PublishedCard {
  /** JSON in UTF-8. */
  body: Buffer;
  /** Strong ETag, including the quotes. */
  etag: string;
}

/** Source of the agent card. */
export interface CardSource {
  /**
   * The current card; `null` until the agent's URL is known. Some clients of the 0.3.0 REST surface know security
   * schemes only by their 1.0 names, so with `forRest` each scheme has both names.
   */
  current(version: CardVersion, forRest?: boolean): PublishedCard | null;
}

/** Request limits of one client address (docs/contract/configuration.md). */
export interface RateLimits {
  /** Read-only requests per second. */
  readRps: number;
  readBurst: number;
  /** Requests per second that may change state. */
  writeRps: number;
  writeBurst: number;
  /** True exempts task cancellation from the limits. */
  cancelExempt: boolean;
  /** Addresses, networks and named ranges of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[];
}

/** One event of the audit log before hash chaining (docs/contract/audit.md). Empty envelope keys are omitted. */
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

/** Input of a model for one turn. */
export interface Conversation {
  taskId: string;
  /** Earlier messages of the task, oldest first. */
  history: Message[];
  /** The message that started this run. */
  request: Message;
  /** Calls that have started in earlier runs and this one, oldest first; absent for none. */
  ran?: RanCall[];
  /** Completed tool calls of this run, oldest first. */
  exchanges: Exchange[];
  /** The model's turns that requested those calls, oldest first; a call that no turn contains is a turn of its own. */
  said: SaidTurn[];
  /** Messages sent while calls of this run were held, oldest first; each follows the first `after` exchanges. */
  followUps: FollowUp[];
  /** Completed model turns of this run. */
  turns: number;
  /** Number of exchanges included in earlier turns, along with the messages up to them; all exchanges when absent. */
  told?: number;
  /** Ratio of the provider's token count to the estimate; 1 when absent. */
  tokensPerEstimate?: number;
}

/** One turn of a model: tool calls, or the answer if there are none. */
export interface Turn {
  text: string;
  /** Models may produce any value as arguments; governance denies values that are not objects. */
  calls: AskedCall[];
  /** The provider's reason for ending the turn, verbatim; absent if it gives none. */
  finishReason?: string;
  /** Why the provider truncated the turn; absent for a complete one. */
  cut?: CutReason;
  /** The parts of the turn in order, with provider data that must be sent back; absent if unknown. */
  parts?: SaidPart[];
  inputTokens: number;
  outputTokens: number;
  /** Input tokens estimated before the call; absent without an estimate. */
  estimatedTokens?: number;
  /** The provider's name for the model that answered; absent if it gives none. */
  answeredBy?: string;
  /** The model that answered if there are several; the requested one when absent. */
  by?: ModelCall;
}

/** A call as requested by the model. */
export interface AskedCall {
  tool: string;
  args: JsonValue;
  /** The JSON text of `args` as received, possibly malformed; absent if it was received parsed. */
  written?: string;
}

/** One call to a model; `duration` in milliseconds. */
export interface ModelCall {
  provider: string;
  model: string;
  /** Digest of the endpoint; absent if there is none. */
  endpoint?: string;
  duration: number;
}

/** Receives the events of a turn while it runs. */
export interface ModelListener {
  /** Receives the text as it arrives. */
  onToken: (text: string) => void;
  /** Receives each failed call, with its reason worded for the caller. */
  onFailedCall?: (call: FailedModelCall) => void;
  /** Receives the parts of the conversation that are omitted to stay within the model's budget. */
  onCompacted?: (compaction: Compaction) => void;
}

/** A model behind one provider. */
export interface LanguageModel {
  readonly provider: string;
  readonly name: string;
  /** Runs one turn. Rejects with a ModelError, whose message is shown to the caller, or with the signal's reason. */
  next(conversation: Conversation, options: ModelListener & { signal: AbortSignal }): Promise<Turn>;
}

/** A failure of a model, worded for the caller; any other error of a model is a bug. */
export class ModelError extends Error {
  readonly code = 'model_failed';
}

/** Context of the call that a tool serves. */
export interface ToolRun {
  taskId: string;
  callId: string;
  correlationId: string;
  /** Workflow tags of the call, such as `workflow_id` (docs/contract/correlation.md). */
  tags: Record<string, string>;
  /** Credential of the call, valid while it runs; `null` if it needs none. */
  credential: ToolCredential | null;
  signal: AbortSignal;
  /**
   * Compares what would run with what was approved, and rejects on a difference; absent for a call without an approval.
   * A tool with `identity` must call it immediately before the call starts.
   */
  confirm?: () => Promise<void>;
  /** Called when another program holds the call for a person, and with `null` when the wait ends. */
  onWait?: (wait: WaitElsewhere | null) => void;
  /** Receives result data other than text before the call resolves; the text includes the data as well. */
  onExtras?: (extras: ResultExtras) => void;
  /** Receives progress reports of the program that executes the call. */
  onProgress?: (report: ToolProgress) => void;
  /** Egress of a tool; without it no host is reachable. */
  outbound?: ToolOutbound;
}

/** Progress of a call, as reported by the program that executes it. */
export interface ToolProgress {
  progress: number;
  total?: number;
  message?: string;
}

/** The credential of one call; JSON and `inspect` output omit its values. */
export interface ToolCredential {
  /** Variables for the environment of a script. */
  env(): Record<string, string>;
  /** Values that must be redacted from all output of the tool. */
  secretValues(): string[];
}

/** A tool that the agent may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** Behaviour hints from the tool's MCP server; passed to clients, never relied on. */
  readonly annotations?: JsonObject;
  /** JSON Schema of `structured`, as declared by the tool's MCP server. */
  readonly outputSchema?: JsonObject;
  /** True if running it twice with the same call id is harmless. */
  readonly idempotent: boolean;
  /** Returns the problem with some arguments in one sentence; `null` if they are valid. */
  check?(args: JsonObject): string | null;
  /**
   * Returns everything except the arguments that currently determines the effect of a call, such as code and settings;
   * an approval is bound to it (docs/contract/governance.md). Rejects when it cannot be read. When absent, description
   * and parameters identify the tool. A tool with an identity must call `confirm` of its runs.
   */
  identity?(): Promise<JsonValue>;
  /**
   * Runs the call and resolves with its result as text. Rejects with a ToolError, whose message is shown to the caller.
   */
  run(args: JsonObject, run: ToolRun): Promise<string>;
}

/** A failure of a tool, worded for the caller; any other error of a tool is a bug. */
export class ToolError extends Error {
  readonly code = 'tool_failed';
  readonly #kind: string;

  constructor(message: string, options: ErrorOptions & { kind?: string } = {}) {
    super(message, options);
    this.#kind = options.kind ?? 'failed';
  }

  /** Kind of the failure, for a log without content: contains no text of the tool, the caller or the model. */
  get kind(): string {
    return this.#kind;
  }
}

/** Egress mode of the agent (docs/contract/egress.md). */
export type EgressMode = 'deny-all' | 'allowlist' | 'dev-open';

/** The originator of a request; `taskId` is `null` for the daemon itself. */
export interface EgressScope {
  taskId: string | null;
  correlationId: string | null;
  /** Workflow tags, such as `workflow_id`. */
  tags: Record<string, string>;
  /**
   * True for requests of the daemon itself while it serves a task, such as to its model; not for tools. False for a
   * foreign program that serves no single task. When absent, a scope without a task is the daemon's own.
   */
  isOwn?: boolean;
  /** The skill whose script sends the request; the hosts declared by that skill are open to it. */
  skill?: string;
}

/** The ruling of the egress policy on one hop. */
export interface EgressRecord {
  /** `null` for the daemon itself. */
  scope: EgressScope | null;
  /** The host in lower case, without its port. */
  domain: string;
  mode: EgressMode;
  /** Why it was blocked; `null` if it was allowed. */
  reason: string | null;
}

/** Egress of the daemon, subject to the egress policy (docs/contract/egress.md). */
export interface Outbound {
  fetch: typeof globalThis.fetch;
  dispatcher: Dispatcher;
  /**
   * Opens to the daemon a host that an issuer has named; its address must be public, since the operator has not named
   * the host.
   */
  discovered?: (endpoint: { host: string; port: number; source: string }) => void;
}

/** An egress that attributes requests to a scope. */
export interface ScopedOutbound extends Outbound {
  /** Attributes all requests of `run` to a scope. */
  within<Result>(scope: EgressScope, run: () => Result): Result;
}

/**
 * Egress of a tool; with `within`, it may use the daemon's own scope for hosts named by the operator's settings of the
 * tool.
 */
export type ToolOutbound = Outbound & Partial<Pick<ScopedOutbound, 'within'>>;

/** A receiver of push notifications for one task (docs/contract/a2a.md). */
export interface PushTarget {
  taskId: string;
  /** Unique within the task. */
  id: string;
  url: string;
  /** Token by which the receiver recognises notifications; empty for none. */
  token: string;
  /** Credentials for the receiver; `null` if it needs none. */
  authentication: { scheme: string; credentials: string } | null;
  /** A2A version in which the receiver was set, and of its notifications. */
  version: string;
}

/** An invalid receiver of push notifications; the message gives the reason. */
export class PushTargetError extends Error {
  readonly code = 'push_target_refused';
}

/** Push notification receivers of tasks. */
export interface PushTargets {
  /** Stores a receiver; replaces one with the same id. Rejects with PushTargetError. */
  set(target: PushTarget): Promise<PushTarget>;
  find(taskId: string, id: string): Promise<PushTarget | undefined>;
  /** Returns the receivers of a task, sorted by id. */
  list(taskId: string): Promise<PushTarget[]>;
  /** Deletes a receiver; returns whether it existed. */
  delete(taskId: string, id: string): Promise<boolean>;
}

/** A push notification in wire format. */
export interface PushNotification {
  body: string;
  contentType: string;
}
