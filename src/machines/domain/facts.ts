import type { JsonObject } from '../json.ts';
import type { CallFault } from './call-fault.ts';
import type { Compaction } from './compaction.ts';
import type { Finding } from './finding.ts';
import type { UsedGrant } from './grant.ts';
import type { HoldOutcome, HoldRequest } from './hold.ts';
import type { LedgerEntry, MeasuredLimit } from './ledger.ts';
import type { PasskeyAssertion } from './passkey-confirmation.ts';
import type {
  Caller,
  DecisionRecord,
  Deferral,
  Exchange,
  FollowUp,
  Message,
  SettledDeferral,
  TaskState,
  ToolCall,
} from './task.ts';

/** The reason why a wait ended without a decision or a timeout (docs/contract/audit.md). */
export type AbandonReason =
  | 'service_restart'
  | 'caller_disconnected'
  | 'canceled'
  | 'policy_changed';

/** The model input that is new in one turn of a run; `request` is set for the first turn. */
export interface Heard {
  request: Message | null;
  exchanges: readonly Exchange[];
  /** Messages sent while these calls were held, oldest first. */
  followUps: readonly Message[];
}

/** How a call that ran here ended; `unknown` if it may have had its effect, but its end is not known. */
export type CallEnd = 'succeeded' | 'failed' | 'not_run' | 'unknown';

/** Identifies a call in the log; data of older releases may lack any member. */
export interface CallMark {
  callId?: string;
  /** Absent if no person was asked about the call. */
  deferralId?: string;
  /** As in the call, after MODIFY. */
  argsSha256?: string;
  /** Digest of everything that determines the call's effect. */
  runsSha256?: string;
  /** Digest of the policy that ruled on the call; absent if it has not been ruled on. */
  policySha256?: string;
}

/**
 * How the sender of a decision was authenticated: by a chat, by a caller's token, by the daemon's own token, by signing in
 * at an OpenID Connect issuer to the approvals page or to the dashboard, or not at all.
 */
export type DecisionMethod = 'chat' | 'token' | 'runtime_token' | 'oidc' | 'dashboard' | 'none';

/** The reported data of a decision, counted or refused. */
export interface DecisionReport {
  call: CallMark;
  tool: string;
  decision: SettledDeferral['decision'];
  approver: string;
  /** True for an approval by a person whose earlier one counts; absent for every other decision. */
  isRepeated?: true;
  /** Entries such as `group:finance` that the approver fulfils; absent for an email. */
  as?: readonly string[];
  /** Email of the person who delegated the decision; absent for the approver's own right. */
  for?: string;
  note: string;
  /** Duration of the wait in milliseconds. */
  wait: number;
  /** How the approver's name was established, as returned by `vouchedBy`. */
  vouchedBy: string;
  method: DecisionMethod;
  /** `argsSha256` of the call as the approver changed it; absent if it is unchanged. */
  editedArgsSha256?: string;
  /** The approver's identity established by a token or a chat; `null` without authentication. */
  caller: Pick<Caller, 'provider' | 'userId'> | null;
  /** The chat that submitted the decision; absent for the HTTP endpoint. */
  source?: string;
  /** The assertion of the passkey that confirmed the decision; absent for none. */
  passkey?: PasskeyAssertion;
}

/**
 * An event that a task reports for the audit log. Durations are in milliseconds, sizes in bytes. Contents (`heard`,
 * `said`, `args`, `result`) are only for `audit.capture`, and no chart stores a fact.
 */
export type TaskFact =
  /** `requester` is verified; `null` without authentication. */
  | { type: 'session.started'; requester: Caller | null; hold?: HoldRequest }
  /** `limit` is the exhausted limit that ended the run; absent for any other end. */
  | { type: 'session.ended'; state: TaskState; limit?: 'turns' | 'errors' | 'tokens' | 'time' }
  | {
      type: 'model.called';
      provider: string;
      model: string;
      duration: number;
      inputTokens: number;
      outputTokens: number;
      /** The provider's reason for ending the turn, unmodified; absent if it gives none. */
      finishReason?: string;
      error?: string;
      /** The kind of the failure; absent if the call did not fail, or not as a call to a model. */
      fault?: CallFault;
      heard: Heard;
      /** `null` if the model failed. */
      said: { text: string; calls: readonly ToolCall[] } | null;
    }
  /** Parts of the conversation were omitted to stay within the model's token budget. */
  | ({ type: 'context.compacted' } & Compaction)
  | {
      type: 'stepUp.required';
      tool: string;
      requiredAcr: string;
      /** `null` if the caller had no acr claim. */
      presentedAcr: string | null;
      reason: string;
    }
  | {
      type: 'intent.judged';
      tool: string;
      /** Cosine similarity; `null` if it could not be computed. */
      score: number | null;
      decision: 'allow' | 'warn' | 'deny';
      reason: string;
    }
  | { type: 'intent.drifted'; tool: string; reason: string }
  | {
      type: 'rule.matched';
      gate: Finding['gate'];
      decision: Finding['decision'];
      /** `null` if the message itself was checked. */
      tool: string | null;
      rule: string;
    }
  /** A rule in shadow would have decided. */
  | { type: 'rule.shadowed'; tool: string; rule: string; would: DecisionRecord['decision'] }
  | { type: 'call.modified'; tool: string; part: 'arguments' | 'output'; rules: number[] }
  | {
      type: 'credential.issued';
      call: CallMark;
      tool: string;
      provider: string;
      ttl: number | null;
    }
  | { type: 'credential.failed'; tool: string; provider: string }
  /** Governance has ruled on a call; `call` is the call after MODIFY. */
  | ({ type: 'call.ruled'; call: CallMark; tool: string } & Pick<
      DecisionRecord,
      'decision' | 'layer' | 'rule' | 'reason'
    >)
  /** The call may run, and counts for these limits from now on; it is over those in `over`, which its approver saw. */
  | {
      type: 'limit.reserved';
      call: CallMark;
      tool: string;
      entries: readonly LedgerEntry[];
      over: readonly string[];
    }
  /** The call would exceed a limit. */
  | {
      type: 'limit.reached';
      call: CallMark;
      tool: string;
      limit: MeasuredLimit;
      decision: 'defer' | 'deny';
    }
  /** A call that did not run no longer counts for these limits. */
  | { type: 'limit.returned'; call: CallMark; tool: string; entries: readonly LedgerEntry[] }
  | { type: 'tool.started'; call: CallMark; tool: string; argsSize: number; args: JsonObject }
  | {
      type: 'tool.ended';
      call: CallMark;
      tool: string;
      duration: number;
      argsSize: number;
      resultSize: number;
      outcome: CallEnd;
      /** The output after the output rules; absent if the call failed. */
      result?: string;
      /** Lower-case hex SHA-256 of the UTF-8 bytes of `result`. */
      resultSha256?: string;
      /** The kind of failure as a fixed text of ours; absent if the call succeeded. */
      error?: string;
      /** The tool's own error text after the output rules. */
      complaint?: string;
    }
  | { type: 'message.received'; size: number; sender: FollowUp['sender'] }
  | ({ type: 'deferral.opened'; deferral: Deferral; requester: Caller | null } & Pick<
      CallMark,
      'policySha256'
    >)
  /** A call runs by the release that an approver gave with an earlier approval. */
  | { type: 'grant.used'; call: CallMark; tool: string; grant: UsedGrant }
  /** `requests` is the number of times the caller has requested the call so far. */
  | { type: 'call.repeated'; tool: string; requests: number }
  | (DecisionReport & { type: 'deferral.decided' })
  | (DecisionReport & { type: 'deferral.refused' })
  | { type: 'deferral.reminded'; tool: string; to: string; wait: number }
  | { type: 'deferral.escalated'; tool: string; to: string; wait: number }
  | { type: 'deferral.timedOut'; call: CallMark; tool: string; timeout: number; wait: number }
  | {
      type: 'deferral.abandoned';
      call: CallMark;
      tool: string;
      reason: AbandonReason;
      wait: number;
    }
  /** The program that runs a held call received that it may. */
  | { type: 'hold.released'; call: CallMark; tool: string }
  | ({ type: 'hold.closed'; call: CallMark; tool: string } & HoldOutcome)
  /** An approved call may no longer run, because its program did not receive it before. */
  | { type: 'hold.withdrawn'; call: CallMark; tool: string; reason: string }
  /** No outcome of a call was reported in time; `within` is in milliseconds. */
  | { type: 'hold.unaccounted'; call: CallMark; tool: string; within: number }
  | { type: 'invocation.cancelled'; reason: string }
  /** `reason` is why the hop was blocked; `null` if it was allowed. */
  | { type: 'egress.judged'; domain: string; mode: string; reason: string | null };
