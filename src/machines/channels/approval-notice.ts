import type { AbandonReason } from '../domain/facts.ts';
import type { OptionTerms } from '../domain/rule-options.ts';
import type {
  Approval,
  CallEdit,
  CallOutcome,
  Deferral,
  DeferralStage,
  HeldMessage,
  WaitTerms,
} from '../domain/task.ts';
import { nameInWords } from '../governance/caller-name.ts';
import { changeWords, editWords } from '../governance/edit-words.ts';
import { boundsJson } from '../governance/limit-json.ts';
import { firstWords, measuredWords } from '../governance/limit-words.ts';
import type { JsonObject } from '../json.ts';
import { oneLine } from '../legible.ts';

/** A held call as shown to approvers. None of its texts may be interpreted as markup. */
export interface ApprovalRequest
  extends OptionTerms,
    Pick<WaitTerms, 'timeout' | 'approvers' | 'quorum'>,
    Pick<Deferral, 'limits' | 'first'> {
  taskId: string;
  deferralId: string;
  tool: string;
  /** The rendered context template. */
  context: string;
  /** The arguments as displayed to people; absent in data of older releases. */
  args?: JsonObject;
  /** Messages sent while the call is held, oldest first; absent if there are none. */
  messages?: readonly HeldMessage[];
  /** Changes that approvers made to the arguments, oldest first; absent for none. */
  edits?: readonly CallEdit[];
  /** An equal call of the session that ran earlier; absent if there is none. */
  repeats?: NonNullable<Deferral['repeats']>;
  /** Number of times the caller has requested the call; absent for one. */
  requests?: number;
  /** Pins a decision to the displayed arguments. */
  argsSha256: string;
  /** Email or name of the requester; `null` if unknown. */
  requester: string | null;
  /** True if the requester is the unnamed operator of this machine; absent in data of older releases. */
  isOperators?: true;
  /** Target of this notice, `channel:<adapter>:<target>`. */
  target: string;
  approvals: Approval[];
  stage: DeferralStage;
  /** Epoch milliseconds. */
  requestedAt: number;
  /** Epoch milliseconds at which the call is denied automatically. */
  expiresAt: number;
}

/** Returns the requester's name for display; `null` if unknown. */
export function requesterWords({
  requester,
  isOperators,
}: Pick<ApprovalRequest, 'requester' | 'isOperators'>): string | null {
  return nameInWords(requester, isOperators);
}

/** Describes the changes that approvers made to the arguments, one sentence for each. */
export function requestEditWords({ edits = [] }: Pick<ApprovalRequest, 'edits'>): string[] {
  return edits.map(editWords);
}

/** Describes the equal call that ran earlier in one sentence; `null` if there is none. */
function repeatWords({ repeats }: Pick<ApprovalRequest, 'repeats'>): string | null {
  if (repeats === undefined) return null;
  const { at, approver } = repeats;
  const by = approver === undefined ? '' : `, approved by ${oneLine(approver)}`;
  return `An equal call already ran at ${new Date(at).toISOString()}${by}.`;
}

/**
 * Describes the facts about a held call besides its arguments, one text for each: limits, an earlier call, changes by
 * approvers, and further requests.
 */
export function factWords(request: ApprovalRequest): string[] {
  const further = requestWords(request);
  return [
    ...boundWords(request),
    ...requestEditWords(request),
    ...(further === null ? [] : [further]),
  ];
}

/** Describes the limits of a held call, those that it is over first, and an earlier call like it, one sentence for each. */
export function boundWords(
  request: Pick<ApprovalRequest, 'limits' | 'first' | 'repeats'>,
): string[] {
  const { limits = [], first } = boundsJson(request);
  const ordered = [...limits.filter(({ over }) => over), ...limits.filter(({ over }) => !over)];
  const earlier = first === undefined ? repeatWords(request) : firstWords(first);
  return [...(earlier === null ? [] : [earlier]), ...ordered.map(measuredWords)];
}

/** States in one sentence that the call was requested more than once; `null` for one request. */
function requestWords({ requests }: Pick<ApprovalRequest, 'requests'>): string | null {
  return requests === undefined ? null : `Requested ${requests} times; it runs once.`;
}

/** The outcome of the wait for a release; `at` is epoch milliseconds. */
export type ApprovalOutcome =
  /** `outcome` is that of the call; absent while unknown. */
  | {
      kind: 'approved';
      approver: string;
      note: string;
      at: number;
      /** What the approval changed in the arguments; absent for nothing. */
      changes?: CallEdit['changes'];
      /** True if the changed call is held for another approval. */
      isHeldAgain?: true;
      outcome?: CallOutcome;
    }
  | { kind: 'rejected'; approver: string; note: string; at: number }
  | { kind: 'timedOut'; at: number }
  | { kind: 'canceled'; reason: string; at: number }
  | { kind: 'abandoned'; reason: Exclude<AbandonReason, 'canceled'>; at: number };

/** The content of a notice to one target about one held call; `outcome` is `null` while the call waits. */
export interface ApprovalNotice {
  request: ApprovalRequest;
  outcome: ApprovalOutcome | null;
}

/** The location of a notice, in the adapter's own format. */
export type MessageRef = JsonObject;

/** The news in a notice compared with the previous one. */
export type ApprovalNews =
  | 'reminded'
  | 'counted'
  | 'written'
  | 'repeated'
  | 'ended'
  | 'finished'
  | 'changed';

/** Returns the news in a notice compared with the previous one; `null` if there is none. */
export function newsOf(before: ApprovalNotice, now: ApprovalNotice): ApprovalNews | null {
  if (JSON.stringify(before) === JSON.stringify(now)) return null;
  if (now.outcome !== null) return before.outcome === null ? 'ended' : 'finished';
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

/** Returns true if nothing more will change: the wait was ended, and the outcome of an approved call is known. */
export function isComplete({ outcome }: ApprovalNotice): boolean {
  if (outcome?.kind === 'approved') return outcome.outcome !== undefined;
  return outcome !== null;
}

/** Describes what an approval changed in the arguments; `null` for nothing. */
export function approvedChangeWords(outcome: ApprovalOutcome): string | null {
  if (outcome.kind !== 'approved' || outcome.changes === undefined) return null;
  const changed = `with changed arguments: ${changeWords({ changes: outcome.changes })}`;
  return outcome.isHeldAgain === true
    ? `${changed}; the changed call needs another approval`
    : changed;
}

/** Describes the outcome of an approved call; `null` while unknown. */
export function callOutcomeWords({ outcome }: Pick<ApprovalNotice, 'outcome'>): string | null {
  if (outcome?.kind !== 'approved' || outcome.outcome === undefined) return null;
  const { outcome: end } = outcome;
  if (end.kind === 'failed') return `failed: ${oneLine(end.error)}`;
  return { ran: 'ran', neverRan: 'never ran', unknown: 'started; outcome unknown' }[end.kind];
}

/** Splits `channel:<adapter>:<target>`. The adapter is empty if it cannot be determined. */
export function splitTarget(to: Deferral['to']): { adapter: string; target: string } {
  const [, adapter = '', ...target] = to.split(':');
  return { adapter, target: target.join(':').trim() };
}
