import type { Compaction } from '../conversation/compaction.ts';
import type { DecisionAttempt } from '../governance/approvers.ts';
import type { DecisionAnswer } from '../governance/decision.ts';
import type { DeferRule } from '../governance/defer-policy.ts';
import type { Finding, Refusal } from '../governance/finding.ts';
import type { CredentialProvider } from '../governance/ruling.ts';
import type { PersonKey } from '../governance/same-person.ts';
import type {
  CutReason,
  Exchange,
  FollowUp,
  HeldMessage,
  Message,
  RanCall,
  ResultExtras,
  SaidPart,
  SaidTurn,
  Surface,
  ToolCall,
  WaitElsewhere,
} from './task.ts';

/** What can happen to a task from outside; every `at` is epoch milliseconds. */
export type TaskEvent =
  /** `today` is the rule that the policy in force has for the tool; `null` or absent when it has none. */
  | { type: 'deferral.decide'; attempt: DecisionAttempt; today?: DeferRule | null }
  /** The policy in force rules otherwise on the call that waits. */
  | { type: 'policy.changed'; at: number }
  /** Somebody said something; `refusal` says why the model may not hear it, `null` when it may. */
  | {
      type: 'message.received';
      message: Message;
      refusal: Refusal | null;
      sender: PersonKey | null;
      /** The message as approvers are shown it. */
      shown?: HeldMessage;
    }
  /** The caller asks for the call that waits once more, and waits for the same decision. */
  | { type: 'call.repeated' }
  /** A time to remind, to ask somebody else or to end the wait has come, or may have. */
  | { type: 'deadline.reached'; at: number }
  | { type: 'caller.left'; at: number }
  /** Some of the work under way takes its time: `busy` milliseconds so far. */
  | { type: 'time.passed'; at: number; busy: number }
  | { type: 'task.cancel'; reason: string; at: number }
  | { type: 'service.restarted'; at: number }
  /** The message that began the run was looked at, for `took` milliseconds; `refusal` is `null` when the model may hear it. */
  | { type: 'prompt.screened'; refusal: Refusal | null; took: number }
  /** Everything reported so far is on disk; `standing` is that of the start of the current call. */
  | { type: 'task.saved'; standing: StartStanding; at: number }
  /** The call that runs waits at another program for a person there, or with `null` no more. */
  | { type: 'tool.waiting'; wait: WaitElsewhere | null }
  /** The egress policy had its say on one hop of the task; `reason` is `null` when it was allowed. */
  | { type: 'egress.judged'; domain: string; mode: string; reason: string | null };

/** What a task answers to a message: it was kept, or why not. */
export type MessageAnswer =
  | { kind: 'kept' }
  | { kind: 'refused'; text: string }
  | { kind: 'full' }
  | { kind: 'notWaiting' };

/** What a task answers to whoever tried to decide, or said something. */
export type TaskEmitted =
  | { type: 'decision.answered'; answer: DecisionAnswer }
  | { type: 'message.answered'; answer: MessageAnswer };

/** What the model is asked. */
export interface ThinkInput {
  taskId: string;
  /** The surface that the run was asked for on. */
  surface: Surface;
  correlationId: string;
  /** What was said before the run, in this task and in earlier ones of its session, oldest first. */
  history: Message[];
  request: Message;
  exchanges: Exchange[];
  followUps: FollowUp[];
  /** The calls that started, in earlier runs and in this one, oldest first. */
  ran: RanCall[];
  /** What the model said in the turns that asked for the exchanges. */
  said: SaidTurn[];
  turns: number;
  /** How many exchanges, and what was said until then, earlier turns told of. */
  told: number;
  /** How many tokens the provider counts for each that is estimated. */
  tokensPerEstimate: number;
}

/** A call to a model that failed, and was followed by another one; `duration` is milliseconds. */
export interface FailedModelCall {
  provider: string;
  model: string;
  duration: number;
  error: string;
}

/** How a model turn ended; a failure is data, so that it can be reported like any other. */
export interface Thought {
  provider: string;
  model: string;
  /** A digest of the address that was asked; absent where there is none. */
  endpoint?: string;
  /** Milliseconds. */
  duration: number;
  /** Epoch milliseconds at which the turn ended. */
  at: number;
  inputTokens: number;
  outputTokens: number;
  /** Why the provider ended the turn, in its words; absent where it says nothing. */
  finishReason?: string;
  /** Calls to models that failed before the one that this tells of, oldest first. */
  failedCalls?: FailedModelCall[];
  /** How many input tokens were estimated beforehand; absent where nobody did. */
  estimatedTokens?: number;
  /** What the model was not told to stay within its budget; absent where it was told all. */
  compaction?: Compaction;
  outcome: /** `parts` says in which order, and what the provider wants told back; absent where nobody tells. */
    | { kind: 'said'; text: string; calls: ToolCall[]; parts?: SaidPart[]; cut?: CutReason }
    | { kind: 'failed'; error: string };
}

/** What making the credentials of a call needs. */
export interface MintInput {
  taskId: string;
  call: ToolCall;
  provider: CredentialProvider;
}

/**
 * How making the credentials of a call ended; the credentials themselves never enter a chart.
 * `duration` and `ttl` are milliseconds (`null` when they do not expire), `at` epoch milliseconds.
 */
export type MintOutcome = { provider: CredentialProvider; duration: number; at: number } & (
  | { kind: 'issued'; ttl: number | null }
  | { kind: 'failed'; error: string }
);

/** What running a tool needs; `approvedSha256` binds it to the arguments a person released. */
export interface RunToolInput {
  taskId: string;
  correlationId: string;
  tags: Record<string, string>;
  call: ToolCall;
  approvedSha256: string | null;
  /** Digest of what was approved to run; absent for a call that needed nobody. */
  approvedRuns?: string;
  /** True when the call may only run with the credentials that were made for it. */
  needsCredential: boolean;
}

/**
 * How a tool call ended; what it says has passed the rules for output, and is `withheld` when they
 * block it. One that is `barred` was allowed and may not run after all. `duration` and `checking` are milliseconds, `at` epoch milliseconds.
 */
export type ToolOutcome = {
  duration: number;
  at: number;
  /** How long the rules for output took. */
  checking: number;
  /** The rules for output that had something to say. */
  findings: Finding[];
  /** Numbers, from 1, of the MODIFY rules that rewrote the output. */
  rewrites: number[];
} & (
  | ({ kind: 'returned'; result: string } & ResultExtras)
  /** `failure` says what kind it was, without a word of the tool; 'failed' when left out. */
  | { kind: 'failed' | 'barred'; error: string; failure?: string }
  | { kind: 'withheld'; error: string }
);

/**
 * What a start on disk means for its call: it is the first, or it is from before a restart, and the call may be
 * repeated or its outcome is unknown.
 */
export type StartStanding = 'first' | 'repeatable' | 'unknown';
