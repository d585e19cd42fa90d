import type { Question, QuestionAnswer } from '../../machines/domain/question.ts';
import type { RemoteTask, ResultExtras, WaitElsewhere } from '../../machines/domain/task.ts';
import type { JsonObject, JsonValue } from '../../machines/json.ts';
import type { ToolOutbound } from './egress.ts';

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
  /** Called when another program continues the call as a task, which a restart of the daemon then follows. */
  onDetached?: (remote: RemoteTask) => void;
  /**
   * Returns whether the task of the run has ended, once `signal` is aborted; otherwise the call continues at another
   * daemon or after a restart.
   */
  hasEnded?: () => Promise<boolean>;
  /** Asks people a question of the program that executes the call. Never rejects. */
  ask?: (question: Question, signal: AbortSignal) => Promise<QuestionAnswer>;
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

/** Calls that other programs continue as tasks. */
export interface RemoteCalls {
  /** Follows the task of a call to its end, like `run` of the call's tool. Rejects with a ToolError. */
  follow(tool: string, remote: RemoteTask, run: ToolRun): Promise<string>;
}

/** A tool that the agent may call. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** Returns the schema of the arguments of one held call, for approvers who change them; `parameters` when absent. */
  schemaOf?(args: JsonObject): JsonObject;
  /** Behaviour hints from the tool's MCP server; passed to clients, never relied on. */
  readonly annotations?: JsonObject;
  /** JSON Schema of `structured`, as declared by the tool's MCP server. */
  readonly outputSchema?: JsonObject;
  /** True if running it twice with the same call id is harmless. */
  readonly idempotent: boolean;
  /** True for a tool of a gate that other programs run; only holds can name it. */
  readonly isElsewhere?: true;
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
  /** True if the call may have had its effect: it was ended on this side, or its end is lost. */
  readonly isUnknown: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { kind?: string; isUnknown?: boolean } = {},
  ) {
    super(message, options);
    this.#kind = options.kind ?? 'failed';
    this.isUnknown = options.isUnknown ?? false;
  }

  /** Kind of the failure, for a log without content: contains no text of the tool, the caller or the model. */
  get kind(): string {
    return this.#kind;
  }
}
