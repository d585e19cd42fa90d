import type { CallFault } from '../domain/call-fault.ts';
import type { Compaction } from '../domain/compaction.ts';
import type { CallEnd } from '../domain/facts.ts';
import type { Finding, Refusal } from '../domain/finding.ts';
import type {
  Approval,
  CutReason,
  Exchange,
  FollowUp,
  HeldMessage,
  Message,
  RanCall,
  RemoteTask,
  ResultExtras,
  SaidPart,
  SaidTurn,
  ToolCall,
  WaitElsewhere,
} from '../domain/task.ts';
import type { DecisionAttempt } from '../governance/approvers.ts';
import type { DecisionAnswer, ProposedEdit } from '../governance/decision.ts';
import type { DeferRule } from '../governance/defer-policy.ts';
import type { CredentialProvider } from '../governance/ruling.ts';
import type { PersonKey } from '../governance/same-person.ts';

/** External events of a task; every `at` is in epoch milliseconds. */
export type TaskEvent =
  /**
   * `today` is the tool's rule in the policy in force, `edit` are the arguments of the attempt; `null` or absent if there
   * is none. `approvals` are the earlier ones that still count; all of them if absent. `isRuled` is true if a new ruling
   * on the call could only be the stored one.
   */
  | {
      type: 'deferral.decide';
      attempt: DecisionAttempt;
      today?: DeferRule | null;
      edit?: ProposedEdit | null;
      approvals?: readonly Approval[];
      isRuled?: boolean;
    }
  /** The policy in force decides differently on the held call. */
  | { type: 'policy.changed'; at: number }
  /** A message arrived; `refusal` is why the model may not receive it, `null` if it may. */
  | {
      type: 'message.received';
      message: Message;
      refusal: Refusal | null;
      sender: PersonKey | null;
      /** The message as displayed to approvers. */
      shown?: HeldMessage;
    }
  /** The caller requests the held call again, and waits for the same decision. */
  | { type: 'call.repeated' }
  /** The caller's client has answered the address of the page on which people decide. */
  | { type: 'link.shown' }
  /** The time to remind, escalate or end the wait may have come. */
  | { type: 'deadline.reached'; at: number }
  | { type: 'caller.left'; at: number }
  /** An effect is still running, for `busy` milliseconds so far. */
  | { type: 'time.passed'; at: number; busy: number }
  | { type: 'task.cancel'; reason: string; at: number }
  | { type: 'service.restarted'; at: number }
  /** The run's first message was checked, in `took` milliseconds; `refusal` is `null` if the model may receive it. */
  | { type: 'prompt.screened'; refusal: Refusal | null; took: number }
  /** Everything reported so far is on disk; `standing` refers to the start of the current call. */
  | { type: 'task.saved'; standing: StartStanding; at: number }
  /** The running call waits for a person at another program; `null` if it no longer waits. */
  | { type: 'tool.waiting'; wait: WaitElsewhere | null }
  /** Another program continues the running call as a task of its own. */
  | { type: 'tool.detached'; remote: RemoteTask }
  /** The egress policy decided on one hop of the task; `reason` is `null` if the hop was allowed. */
  | { type: 'egress.judged'; domain: string; mode: string; reason: string | null };

/** A task's answer to a message: stored, or the reason why not. */
export type MessageAnswer =
  | { kind: 'kept' }
  | { kind: 'refused'; text: string }
  | { kind: 'full' }
  | { kind: 'notWaiting' };

/** A task's answer to a decision attempt or a message. */
export type TaskEmitted =
  | { type: 'decision.answered'; answer: DecisionAnswer }
  | { type: 'message.answered'; answer: MessageAnswer };

/** The input of a model turn. */
export interface ThinkInput {
  taskId: string;
  correlationId: string;
  /** Messages from before the run, in this task and in earlier ones of its session, oldest first. */
  history: Message[];
  request: Message;
  exchanges: Exchange[];
  followUps: FollowUp[];
  /** The started calls of earlier runs and of this one, oldest first. */
  ran: RanCall[];
  /** The model's other output in the turns that requested the exchanges. */
  said: SaidTurn[];
  turns: number;
  /** Number of exchanges, with their follow-ups, that were sent in earlier turns. */
  told: number;
  /** Ratio of the provider's token count to the estimate. */
  tokensPerEstimate: number;
}

/** A failed model call that was followed by another call; `duration` is in milliseconds. */
export interface FailedModelCall {
  provider: string;
  model: string;
  duration: number;
  error: string;
  /** The kind of the failure; absent if the failure is not one of a call to a model. */
  fault?: CallFault;
}

/** The result of a model turn. A failure is data, so that it can be reported like any other result. */
export interface Thought {
  provider: string;
  model: string;
  /** Digest of the called endpoint's URL; absent if there is none. */
  endpoint?: string;
  /** Duration in milliseconds. */
  duration: number;
  /** Epoch milliseconds at which the turn ended. */
  at: number;
  inputTokens: number;
  outputTokens: number;
  /** The provider's reason for ending the turn, unmodified; absent if it gives none. */
  finishReason?: string;
  /** The kind of the failure of the last call; absent if it did not fail, or not as a call. */
  fault?: CallFault;
  /** Failed model calls before this one, oldest first. */
  failedCalls?: FailedModelCall[];
  /** Number of input tokens estimated before the call; absent if not estimated. */
  estimatedTokens?: number;
  /** The parts omitted to stay within the model's token budget; absent if none were. */
  compaction?: Compaction;
  outcome: /** `parts` says in which order, and what the provider wants told back; absent where nobody tells. */
    | { kind: 'said'; text: string; calls: ToolCall[]; parts?: SaidPart[]; cut?: CutReason }
    | { kind: 'failed'; error: string };
}

/** A call that a run begins with. */
export type FirstCall = Pick<ToolCall, 'tool' | 'args' | 'runsSha256'>;

/** The calls that a run begins with. */
export interface AcceptInput {
  taskId: string;
  calls: FirstCall[];
}

/**
 * The calls that a run begins with, with ids and digests. `duration` is in milliseconds, `at` is in epoch milliseconds.
 */
export interface AcceptedCalls {
  calls: ToolCall[];
  duration: number;
  at: number;
}

export interface MintInput {
  taskId: string;
  call: ToolCall;
  provider: CredentialProvider;
}

/**
 * The result of issuing a call's credentials. The credentials themselves never enter a chart. `duration` and `ttl` are
 * in milliseconds (`ttl` is `null` if they do not expire), `at` is in epoch milliseconds.
 */
export type MintOutcome = { provider: CredentialProvider; duration: number; at: number } & (
  | { kind: 'issued'; ttl: number | null }
  | { kind: 'failed'; error: string }
);

/** The input for running a tool; `approvedSha256` binds it to the arguments that an approver released. */
export interface RunToolInput {
  taskId: string;
  correlationId: string;
  tags: Record<string, string>;
  call: ToolCall;
  approvedSha256: string | null;
  /** Digest of what was approved to run; absent for a call without approval. */
  approvedRuns?: string;
  /** True if the call may only run with the credentials issued for it. */
  needsCredential: boolean;
}

/**
 * The result of a tool call. Its text has passed the output rules, and is `withheld` if they block it. A `barred` call
 * was allowed but must not run after all. `resultSha256` is the lower-case hex digest of the result's UTF-8 bytes. `duration` and `checking` are in milliseconds, `at` is in epoch milliseconds.
 */
export type ToolOutcome = {
  duration: number;
  at: number;
  /** Duration of the output rules. */
  checking: number;
  /** The output rules that matched. */
  findings: Finding[];
  /** Numbers, from 1, of the MODIFY rules that rewrote the output. */
  rewrites: number[];
} & (
  | ({ kind: 'returned'; result: string; resultSha256?: string } & ResultExtras)
  /**
   * `failure` is the kind of failure without text from the tool; defaults to 'failed'. `isUnknown` if the call may have
   * had its effect.
   */
  | { kind: 'failed' | 'barred'; error: string; failure?: string; isUnknown?: true }
  /** `of` is the end of the call itself; absent if it succeeded. */
  | { kind: 'withheld'; error: string; of?: Exclude<CallEnd, 'succeeded'> }
);

/** Returns how the call of an outcome ended. */
export function callEndOf(outcome: ToolOutcome): CallEnd {
  switch (outcome.kind) {
    case 'returned':
      return 'succeeded';
    case 'barred':
      return 'not_run';
    case 'failed':
      return outcome.isUnknown === true ? 'unknown' : 'failed';
    case 'withheld':
      return outcome.of ?? 'succeeded';
  }
}

/**
 * The meaning of a start on disk: the first start, or a start from before a restart, after which the call may be
 * repeated, continues at another program, or its outcome is unknown.
 */
export type StartStanding = 'first' | 'repeatable' | 'detached' | 'unknown';
