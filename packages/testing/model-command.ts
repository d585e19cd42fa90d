import type { RequiredReason } from '../../src/machines/domain/rule-options.ts';
import type { JsonObject } from '../../src/machines/json.ts';

/** The hold rules of an agent, with the names of `security.defer`. */
export interface ModelRules {
  /** Emails in lower case; `null` for no list. */
  approvers: readonly string[] | null;
  quorum: number;
  fourEyes: boolean;
  bindApprover: boolean;
  onReject: 'fail' | 'tool_result';
  /** Effect of a timeout; absent for `fail`. */
  onTimeout?: 'fail' | 'tool_result';
  /** True if an approval may change the arguments. */
  edit?: boolean;
  /** The decisions that need a note; absent for none. */
  requireReason?: RequiredReason;
  onRestart: 'abandon' | 'resume';
  /** Timeout in milliseconds. */
  timeout: number;
}

/** The state of a task whose calls are all held. */
export interface ModelTask {
  state: 'deferred' | 'completed' | 'failed' | 'canceled';
  /** Senders of its messages; `null` for a sender without a token. */
  askers: readonly (string | null)[];
  /** Unfinished calls of the current run, including the held one. */
  calls: number;
  /** Number of calls that ran, in all runs. */
  ran: number;
  approvals: readonly { by: string | null; email: string | null }[];
  /** Arguments of the held call, and the people who changed them. */
  args: JsonObject;
  editors: readonly (string | null)[];
  expiresAt: number;
  /** True if its last deferral has been decided. */
  isDecided: boolean;
}

/** The expected state of an agent: its rules, the time in epoch milliseconds, and its tasks by ID. */
export interface ReferenceModel {
  rules: ModelRules;
  now: number;
  tasks: ReadonlyMap<string, ModelTask>;
}

/** `by` is the email in the token, `null` for no token; `email` is the email claimed in the decision. */
export type ModelCommand =
  | { type: 'send'; id: string; by: string | null; calls: number }
  | {
      type: 'decide';
      id: string;
      decision: string;
      by: string | null;
      email: string | null;
      note?: string;
      /** The arguments to run instead. */
      args?: JsonObject;
    }
  | { type: 'cancel' | 'read'; id: string }
  | { type: 'pass'; milliseconds: number }
  | { type: 'restart' };

/**
 * The expected status and the resulting task state; `null` for no task. An accepted send is held open over HTTP, so its
 * status arrives only once the task has ended.
 */
export type ModelAnswer = { status: number; state: ModelTask['state'] | null };
