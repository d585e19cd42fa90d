/// <reference lib="esnext.disposable" preserve="true" />

import type { Deferral, DeferralStage, Task } from '../../src/machines/domain/task.ts';
import type { JsonObject, JsonValue } from '../../src/machines/json.ts';

/**
 * A requester or approver: the email in their token, or all of its data. Without authentication the agent has no
 * identities, and the email only serves as the one claimed in a decision.
 */
export type Person =
  | string
  | {
      email?: string;
      /** Defaults to the email. */
      userId?: string;
      /** Defaults to the first provider of `auth.providers`. */
      provider?: string;
      orgId?: string;
      workspaceId?: string;
      acr?: string;
    };

/** One step of a script: a tool call, governed like any other, or the text that ends the run. */
export type ScriptStep = { tool: string; args?: JsonObject } | { say: string };

/** A call handled by a stand-in. */
export interface ToolRun {
  taskId: string;
  callId: string;
  tool: string;
  args: JsonObject;
}

/** Runs in place of a tool. A thrown error is an error of the tool. `signal` aborts when the task is cancelled. */
export type StandInTool = (
  args: JsonObject,
  run: ToolRun & { signal: AbortSignal },
) => JsonValue | Promise<JsonValue>;

/** A tool of an agent without a folder. */
export interface ToolOnPaper {
  description?: string;
  /** JSON Schema of its arguments; defaults to any object. */
  parameters?: JsonObject;
  idempotent?: boolean;
  /** The result, or the function that computes it. */
  run: string | StandInTool;
}

/** A line of the daemon's own log. */
export interface LogLine {
  level: 'info' | 'warn' | 'error';
  message: string;
  fields: object;
}

/** The source of a test agent; at least one of `folder` and `settings` is required. */
export interface TestAgentOptions {
  /** The agent's folder. It is only read. */
  folder?: string;
  /** Contents of `service.yaml`. Overrides the top-level keys of the folder's file, if there is one. */
  settings?: { [key: string]: unknown };
  /** Stand-ins for the tools; the tools themselves never run. A tool without a stand-in returns `ok`. */
  tools?: { [name: string]: string | StandInTool | ToolOnPaper };
  /** The model's script for messages without one; defaults to the model of the configuration. */
  script?: readonly ScriptStep[];
  /** Returns the intent score of a call, between -1 and 1, if intent alignment is on. Default: 1. */
  similarity?: (request: string, call: string) => number;
  /** Environment variables; empty by default. No model key is needed. */
  env?: { [name: string]: string };
  /** Receives the lines of the daemon's own log. */
  onLog?: (line: LogLine) => void;
  /** Start of the simulated clock in epoch milliseconds. Default: 2026-01-01T09:00:00Z. */
  now?: number;
}

export interface SendOptions {
  /** ID of the task; defaults to a new ID. */
  id?: string;
  contextId?: string;
  /** The requester. Defaults to the daemon's operator if callers authenticate. */
  as?: Person;
  script?: readonly ScriptStep[];
}

/** The approver, and the fields of the decision. */
export interface DecideOptions {
  /** The approver. Defaults to the daemon's operator if callers authenticate. */
  as?: Person;
  /** The email claimed in the decision; defaults to the email of `as`, `null` for none. */
  email?: string | null;
  /** The claimed name. */
  approver?: string;
  note?: string;
  deferralId?: string;
  argsSha256?: string;
  /** The arguments to run instead, where the rule of the call has `edit: true`. */
  args?: JsonObject;
}

/** The response of `POST /tasks/{id}/decisions`. */
export interface DecisionReply {
  status: number;
  body: JsonObject;
}

/** A held call. */
export interface HeldCall extends Deferral {
  taskId: string;
  stage: DeferralStage;
}

/** A line of the audit log. */
export type AuditLine = JsonObject & { event: string; ts: string; task_id?: string };

/** The result of verifying the audit log, with a one-sentence summary. */
export interface LogVerdict {
  ok: boolean;
  text: string;
}

/**
 * An agent that runs in this process with a simulated clock: the daemon without its sockets, model and tools. Its files
 * are in a temporary folder, which is removed on disposal.
 */
export interface TestAgent {
  /** The simulated time in epoch milliseconds. */
  now(): number;
  /**
   * Sends a message, and resolves with its task once the task waits for a decision or has ended. Rejects with code
   * `task_running` for the ID of an unfinished task.
   */
  send(text: string, options?: SendOptions): Promise<Task>;
  /** Returns a task as visible to `as`; defaults to the operator. */
  task(id: string, options?: { as?: Person }): Promise<Task | undefined>;
  /** Returns the held calls, oldest first. */
  held(): Promise<HeldCall[]>;
  /** Submits a decision to a task, and resolves with its answer once the task waits again or has ended. */
  decide(
    id: string,
    decision: 'approve' | 'reject',
    options?: DecideOptions,
  ): Promise<DecisionReply>;
  /** Cancels a task and returns it; `undefined` if `as` may not see the task. */
  cancel(id: string, options?: { as?: Person; reason?: string }): Promise<Task | undefined>;
  /**
   * Advances the clock by milliseconds or by a duration such as `5m`. Resolves once all actions due by then have
   * happened.
   */
  advance(time: number | string): Promise<void>;
  /** Stops the agent and starts it again with the same files, like a restart of the daemon. */
  restart(): Promise<void>;
  /** The calls that ran, oldest first. */
  readonly runs: readonly ToolRun[];
  /** Returns the audit log, oldest first; only one task's events if it is named. */
  events(taskId?: string): AuditLine[];
  /** Verifies the audit log's hash chain, and its signatures if there are any. */
  verify(): Promise<LogVerdict>;
  /** Returns the path of the audit log. */
  readonly auditPath: string;
  [Symbol.asyncDispose](): Promise<void>;
}
