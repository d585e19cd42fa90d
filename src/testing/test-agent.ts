/// <reference lib="esnext.disposable" preserve="true" />
import type { JsonObject, JsonValue } from '../machines/json.ts';
import type { Deferral, DeferralStage, Task } from '../machines/task/task.ts';

/**
 * Somebody who asks or decides: an email that their token vouches for, or all that it says of them. An agent whose
 * callers do not sign in knows nobody, and takes an email for what is said of whoever decides.
 */
export type Person =
  | string
  | {
      email?: string;
      /** The email when absent. */
      userId?: string;
      /** The first provider of `auth.providers` when absent. */
      provider?: string;
      orgId?: string;
      workspaceId?: string;
      acr?: string;
    };

/** One step of a script: a tool call, which is governed like any other, or the words that end the run. */
export type ScriptStep = { tool: string; args?: JsonObject } | { say: string };

/** A call that a stand-in served. */
export interface ToolRun {
  taskId: string;
  callId: string;
  tool: string;
  args: JsonObject;
}

/** Does what a tool would; what it throws is an error of the tool. `signal` aborts when its task is called off. */
export type StandInTool = (
  args: JsonObject,
  run: ToolRun & { signal: AbortSignal },
) => JsonValue | Promise<JsonValue>;

/** A tool of an agent that has no folder. */
export interface ToolOnPaper {
  description?: string;
  /** JSON Schema of its arguments; any object when absent. */
  parameters?: JsonObject;
  idempotent?: boolean;
  /** What it returns, or what does it. */
  run: string | StandInTool;
}

/** A line of the daemon's own log. */
export interface LogLine {
  level: 'info' | 'warn' | 'error';
  message: string;
  fields: object;
}

/** What an agent is started from; one of `folder` and `settings` at least. */
export interface TestAgentOptions {
  /** The folder of the agent. It is read, and nothing is written there. */
  folder?: string;
  /** What stands in `service.yaml`; over that of the folder, key by key at the top, where there is one. */
  settings?: { [key: string]: unknown };
  /** What stands for its tools, none of which ever runs; one that is not named here returns `ok`. */
  tools?: { [name: string]: string | StandInTool | ToolOnPaper };
  /** What the model plays when a message brings no script; that of the configuration when absent. */
  script?: readonly ScriptStep[];
  /** How well a call fits what was asked, within -1 and 1, where intent alignment is on; 1 when absent. */
  similarity?: (request: string, call: string) => number;
  /** Its environment; empty when absent. No key of a model is needed. */
  env?: { [name: string]: string };
  /** Hears what the daemon would write to its own log. */
  onLog?: (line: LogLine) => void;
  /** When its clock starts, in epoch milliseconds; 2026-01-01T09:00:00Z when absent. */
  now?: number;
}

/** How a message is sent. */
export interface SendOptions {
  /** Names the task; a new id when absent. */
  id?: string;
  contextId?: string;
  /** The daemon's operator when absent, where callers sign in. */
  as?: Person;
  script?: readonly ScriptStep[];
}

/** Who decides, and what they say with it. */
export interface DecideOptions {
  /** The daemon's operator when absent, where callers sign in. */
  as?: Person;
  /** The email that is claimed in the body of the decision; that of `as` when absent, and `null` for none. */
  email?: string | null;
  /** The name that is claimed. */
  approver?: string;
  note?: string;
  deferralId?: string;
  argsSha256?: string;
}

/** What `POST /tasks/{id}/decisions` answers. */
export interface DecisionReply {
  status: number;
  body: JsonObject;
}

/** A call that waits for a decision. */
export interface HeldCall extends Deferral {
  taskId: string;
  stage: DeferralStage;
}

/** A line of the audit log. */
export type AuditLine = JsonObject & { event: string; ts: string; task_id?: string };

/** Whether the audit log is whole, and in one sentence what was found. */
export interface LogVerdict {
  ok: boolean;
  text: string;
}

/**
 * An agent that runs in this process by a simulated clock: the daemon without its sockets, model and tools. It keeps its
 * files in a temporary folder, which goes when it is disposed of.
 */
export interface TestAgent {
  /** The time of its clock, in epoch milliseconds. */
  now(): number;
  /**
   * Sends a message, and resolves with its task once that waits for a decision or has ended. Rejects with code
   * `task_running` for the id of a task that has not ended.
   */
  send(text: string, options?: SendOptions): Promise<Task>;
  /** Returns a task as `as` may know of it; the operator when absent. */
  task(id: string, options?: { as?: Person }): Promise<Task | undefined>;
  /** Returns the calls that wait, the one that was asked for first at the head. */
  held(): Promise<HeldCall[]>;
  /** Puts a decision to a task, and resolves with its answer once the task waits again or has ended. */
  decide(
    id: string,
    decision: 'approve' | 'reject',
    options?: DecideOptions,
  ): Promise<DecisionReply>;
  /** Calls a task off and returns it; `undefined` for one that `as` may not know of. */
  cancel(id: string, options?: { as?: Person; reason?: string }): Promise<Task | undefined>;
  /** Moves its clock on, by milliseconds or by a duration such as `5m`; what comes due meanwhile has happened then. */
  advance(time: number | string): Promise<void>;
  /** Stops it and starts it again over the same files, as a restart of the daemon does. */
  restart(): Promise<void>;
  /** The calls that ran, oldest first. */
  readonly runs: readonly ToolRun[];
  /** Returns the audit log, oldest first; of one task when it is named. */
  events(taskId?: string): AuditLine[];
  /** Verifies the hash chain of the audit log, and its signatures where there are some. */
  verify(): Promise<LogVerdict>;
  /** Returns the path of the audit log. */
  readonly auditPath: string;
  [Symbol.asyncDispose](): Promise<void>;
}
