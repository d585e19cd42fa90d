/** How the calls of an agent are held, in the words of `security.defer`. */
export interface ModelRules {
  /** Emails in lower case; `null` for no list. */
  approvers: readonly string[] | null;
  quorum: number;
  fourEyes: boolean;
  bindApprover: boolean;
  onReject: 'fail' | 'tool_result';
  onRestart: 'abandon' | 'resume';
  /** Milliseconds. */
  timeout: number;
}

/** What is known of a task, each call of which is held. */
export interface ModelTask {
  state: 'deferred' | 'completed' | 'failed' | 'canceled';
  /** Who sent its messages; `null` for somebody without a token. */
  askers: readonly (string | null)[];
  /** Calls of its run that have not ended, the one that waits among them. */
  calls: number;
  /** Calls that ran, in all of its runs. */
  ran: number;
  approvals: readonly { by: string | null; email: string | null }[];
  expiresAt: number;
  /** Whether somebody has decided on its last deferral. */
  isDecided: boolean;
}

/** An agent as it should be: its rules, the time in epoch milliseconds, and its tasks by their ids. */
export interface ReferenceModel {
  rules: ModelRules;
  now: number;
  tasks: ReadonlyMap<string, ModelTask>;
}

/** `by` is the email that a token vouches for, `null` for no token; `email` the one that a decision claims. */
export type ModelCommand =
  | { type: 'send'; id: string; by: string | null; calls: number }
  | { type: 'decide'; id: string; decision: string; by: string | null; email: string | null }
  | { type: 'cancel' | 'read'; id: string }
  | { type: 'pass'; milliseconds: number }
  | { type: 'restart' };

/**
 * The status that a command is answered with, and the state of its task then; `null` for no task. A send that is taken in is
 * held open over HTTP and has its status once the task has ended.
 */
export type ModelAnswer = { status: number; state: ModelTask['state'] | null };
