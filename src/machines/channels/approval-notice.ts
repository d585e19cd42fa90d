import { nameInWords } from '../governance/caller-name.ts';
import type { JsonObject } from '../json.ts';
import { oneLine } from '../legible.ts';
import type { AbandonReason } from '../task/facts.ts';
import type { Approval, Deferral, DeferralStage, HeldMessage } from '../task/task.ts';

/** A held call as approvers are shown it; nothing of it may be read as markup. */
export interface ApprovalRequest {
  taskId: string;
  deferralId: string;
  tool: string;
  /** The rendered context template. */
  context: string;
  /** The arguments as people are shown them; absent in what older releases kept. */
  args?: JsonObject;
  /** What was written since the call waits, oldest first; absent while nothing was. */
  messages?: readonly HeldMessage[];
  /** An equal call of the session that ran before; absent when there is none. */
  repeats?: NonNullable<Deferral['repeats']>;
  /** How often its caller has asked for the call; absent for once. */
  requests?: number;
  /** Pins a decision to the arguments that were shown. */
  argsSha256: string;
  /** Who asked, by email or name; `null` when nobody knows. */
  requester: string | null;
  /** True when the operator of this machine asked, who has no name; absent in what older releases kept. */
  isOperators?: true;
  /** `channel:<adapter>:<target>` that this notice is for. */
  target: string;
  /** Normalised allowlist; `null` when membership of the channel is the authority. */
  approvers: string[] | null;
  quorum: number;
  fourEyes: boolean;
  approvals: Approval[];
  stage: DeferralStage;
  /** Milliseconds. */
  timeout: number;
  /** Epoch milliseconds. */
  requestedAt: number;
  /** Epoch milliseconds at which the call is denied by itself. */
  expiresAt: number;
}

/** Names who asked in words for people; `null` when nobody knows. */
export function requesterWords({
  requester,
  isOperators,
}: Pick<ApprovalRequest, 'requester' | 'isOperators'>): string | null {
  return nameInWords(requester, isOperators);
}

/** Returns in one sentence which equal call ran before; `null` when none did. */
export function repeatWords({ repeats }: Pick<ApprovalRequest, 'repeats'>): string | null {
  if (repeats === undefined) return null;
  const { at, approver } = repeats;
  const by = approver === undefined ? '' : `, approved by ${oneLine(approver)}`;
  return `An equal call of this session already ran at ${new Date(at).toISOString()}${by}.`;
}

/** Returns in one sentence that the call was asked for more than once; `null` for once. */
export function requestWords({ requests }: Pick<ApprovalRequest, 'requests'>): string | null {
  return requests === undefined ? null : `Requested ${requests} times; it runs once.`;
}

/** How the wait for a release ended; `at` is epoch milliseconds. */
export type ApprovalOutcome =
  | { kind: 'approved'; approver: string; note: string; at: number }
  | { kind: 'rejected'; approver: string; note: string; at: number }
  | { kind: 'timedOut'; at: number }
  | { kind: 'canceled'; reason: string; at: number }
  | { kind: 'abandoned'; reason: Exclude<AbandonReason, 'canceled'>; at: number };

/** What one target is to know of one held call; `outcome` is `null` while it waits. */
export interface ApprovalNotice {
  request: ApprovalRequest;
  outcome: ApprovalOutcome | null;
}

/** Where a notice was put, in the words of the adapter that put it there. */
export type MessageRef = JsonObject;

/** What a notice says that an earlier one did not. */
export type ApprovalNews = 'reminded' | 'counted' | 'written' | 'repeated' | 'ended' | 'changed';

/** Returns what a notice says that the one before it did not; `null` when it says the same. */
export function newsOf(before: ApprovalNotice, now: ApprovalNotice): ApprovalNews | null {
  if (JSON.stringify(before) === JSON.stringify(now)) return null;
  if (now.outcome !== null) return 'ended';
  if (now.request.approvals.length > before.request.approvals.length) return 'counted';
  if (now.request.stage !== before.request.stage && now.request.stage === 'reminded') {
    return 'reminded';
  }
  if (JSON.stringify(now.request.messages) !== JSON.stringify(before.request.messages)) {
    return 'written';
  }
  if (now.request.requests !== before.request.requests) return 'repeated';
  return 'changed';
}

/** Splits `channel:<adapter>:<target>`; an adapter that cannot be told is an empty text. */
export function splitTarget(to: Deferral['to']): { adapter: string; target: string } {
  const [, adapter = '', ...target] = to.split(':');
  return { adapter, target: target.join(':').trim() };
}
