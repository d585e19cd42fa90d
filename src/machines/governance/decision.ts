import type { Deferral, SettledDeferral } from '../task/task.ts';
import { approverEmail, approverName, type DecisionAttempt } from './approvers.ts';

/** What a decision attempt is told (contract section 6); each kind is one status of the endpoint. */
export type DecisionAnswer =
  | {
      kind: 'resolved' | 'recorded';
      deferralId: string;
      decision: DecisionAttempt['verb'];
      approver: string;
    }
  | { kind: 'forbidden' }
  | { kind: 'decided'; settled: SettledDeferral }
  | { kind: 'otherDeferral'; pendingId: string }
  | { kind: 'otherArguments'; pendingSha256: string }
  | { kind: 'notPending' };

/** Answers an attempt on a task that waits for nothing: who decided before, or that nothing was pending. */
export function answerWithoutPending(settled: SettledDeferral | null): DecisionAnswer {
  return settled === null ? { kind: 'notPending' } : { kind: 'decided', settled };
}

/** Answers an attempt that was pinned to something other than what is pending; `null` when it was not. */
export function answerMispinned(
  deferral: Deferral,
  attempt: DecisionAttempt,
): DecisionAnswer | null {
  if (attempt.deferralId !== null && attempt.deferralId !== deferral.id) {
    return { kind: 'otherDeferral', pendingId: deferral.id };
  }
  if (attempt.argsSha256 !== null && attempt.argsSha256.toLowerCase() !== deferral.argsSha256) {
    return { kind: 'otherArguments', pendingSha256: deferral.argsSha256 };
  }
  return null;
}

/** Tells whether one more approval is still short of the quorum; the same approver counts once. */
export function isShortOfQuorum(deferral: Deferral, attempt: DecisionAttempt): boolean {
  return withApproval(deferral, attempt).approvals.length < deferral.quorum;
}

/**
 * Returns the deferral with this approval counted under the email that counts as the approver's,
 * so that nobody counts twice by giving two names; under the name when there is no email.
 */
export function withApproval(deferral: Deferral, attempt: DecisionAttempt): Deferral {
  const approver = approverEmail(deferral, attempt) ?? approverName(deferral, attempt);
  const same = (name: string): boolean => name.toLowerCase() === approver.toLowerCase();
  if (deferral.approvals.some((approval) => same(approval.approver))) return deferral;
  return { ...deferral, approvals: [...deferral.approvals, { approver, at: attempt.at }] };
}

/** Returns the record of a deferral that this attempt settles. */
export function settle(deferral: Deferral, attempt: DecisionAttempt): SettledDeferral {
  return {
    id: deferral.id,
    tool: deferral.tool,
    argsSha256: deferral.argsSha256,
    decision: attempt.verb,
    approver: approverName(deferral, attempt),
    note: attempt.note,
    decidedAt: attempt.at,
  };
}

/** Answers an attempt that counted: as the one that settled the deferral, or as one of a quorum. */
export function answerCounted(
  kind: 'resolved' | 'recorded',
  deferral: Deferral,
  attempt: DecisionAttempt,
): DecisionAnswer {
  const approver = approverName(deferral, attempt);
  return { kind, deferralId: deferral.id, decision: attempt.verb, approver };
}
