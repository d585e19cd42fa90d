import type { Compaction } from '../conversation/compaction.ts';
import type { Finding } from '../governance/finding.ts';
import type { JsonObject } from '../json.ts';
import type {
  Caller,
  Deferral,
  Exchange,
  FollowUp,
  Message,
  SettledDeferral,
  TaskState,
  ToolCall,
} from './task.ts';

/** Why a wait ended without a decision or a timeout (docs/contract/audit.md). */
export type AbandonReason =
  | 'service_restart'
  | 'caller_disconnected'
  | 'canceled'
  | 'policy_changed';

/** What the model was told in one turn that no earlier turn of the run told it; `request` opens a run. */
export interface Heard {
  request: Message | null;
  exchanges: readonly Exchange[];
  /** What was said while the calls among them waited, oldest first. */
  followUps: readonly Message[];
}

/** What is reported of a decision, whether it counted or was refused. */
export interface DecisionReport {
  tool: string;
  decision: SettledDeferral['decision'];
  approver: string;
  note: string;
  /** Milliseconds. */
  wait: number;
  /** Who stands behind the name of the approver, as `vouchedBy` tells. */
  vouchedBy: string;
  /** Who decided, as a token or a chat establishes it; `null` without authentication. */
  caller: Pick<Caller, 'provider' | 'userId'> | null;
  /** The chat that carried the decision; absent when it came over the endpoint itself. */
  source?: string;
}

/**
 * What a task reports about itself for the audit log, in domain words; durations are milliseconds, sizes bytes.
 * Contents (`heard`, `said`, `args`, `result`) are for `audit.capture` alone, and no chart keeps a fact.
 */
export type TaskFact =
  | { type: 'session.started' }
  /** `limit` says what the run had used up when it was ended for that; absent for any other end. */
  | { type: 'session.ended'; state: TaskState; limit?: 'turns' | 'errors' | 'tokens' | 'time' }
  | {
      type: 'model.called';
      provider: string;
      model: string;
      duration: number;
      inputTokens: number;
      outputTokens: number;
      /** Why the provider ended the turn, in its words; absent where it says nothing. */
      finishReason?: string;
      error?: string;
      heard: Heard;
      /** `null` when the model failed. */
      said: { text: string; calls: readonly ToolCall[] } | null;
    }
  /** The model was not told all, to stay within its budget. */
  | ({ type: 'context.compacted' } & Compaction)
  | {
      type: 'stepUp.required';
      tool: string;
      requiredAcr: string;
      /** `null` when the caller had no acr claim. */
      presentedAcr: string | null;
      reason: string;
    }
  | {
      type: 'intent.judged';
      tool: string;
      /** Cosine; `null` when none could be computed. */
      score: number | null;
      decision: 'allow' | 'warn' | 'deny';
      reason: string;
    }
  | { type: 'intent.drifted'; tool: string; reason: string }
  | {
      type: 'rule.matched';
      gate: Finding['gate'];
      decision: Finding['decision'];
      /** `null` when the message itself was looked at. */
      tool: string | null;
      rule: string;
    }
  | { type: 'call.modified'; tool: string; part: 'arguments' | 'output'; rules: number[] }
  | { type: 'credential.issued'; tool: string; provider: string; ttl: number | null }
  | { type: 'credential.failed'; tool: string; provider: string }
  | { type: 'tool.started'; tool: string; argsSize: number; args: JsonObject }
  | {
      type: 'tool.ended';
      tool: string;
      duration: number;
      argsSize: number;
      resultSize: number;
      /** What passed the rules for output; absent when the call failed. */
      result?: string;
      /** What kind of failure it was, in words of our own; absent when the call returned. */
      error?: string;
      /** What the tool said of its failure, past the rules for output. */
      complaint?: string;
    }
  | { type: 'message.received'; size: number; sender: FollowUp['sender'] }
  | { type: 'deferral.opened'; deferral: Deferral }
  /** `requests` says how often the caller has asked for the call by now. */
  | { type: 'call.repeated'; tool: string; requests: number }
  | (DecisionReport & { type: 'deferral.decided' })
  | (DecisionReport & { type: 'deferral.refused' })
  | { type: 'deferral.reminded'; tool: string; to: string; wait: number }
  | { type: 'deferral.escalated'; tool: string; to: string; wait: number }
  | { type: 'deferral.timedOut'; tool: string; timeout: number; wait: number }
  | { type: 'deferral.abandoned'; tool: string; reason: AbandonReason; wait: number }
  | { type: 'invocation.cancelled'; reason: string }
  /** `reason` says why the hop was blocked; `null` when it was allowed. */
  | { type: 'egress.judged'; domain: string; mode: string; reason: string | null };
