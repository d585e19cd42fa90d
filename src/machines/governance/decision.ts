import { legible } from '../legible.ts';
import type { Approval, Deferral, SettledDeferral } from '../task/task.ts';
import { approverEmail, approverName, type DecisionAttempt } from './approvers.ts';
import { normaliseEmail } from './email.ts';
import { isSameName, isSamePerson } from './same-person.ts';

/** What a decision attempt is told (docs/contract/decisions.md); each kind is one status of the endpoint. */
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
  | { kind: 'otherRuns'; pendingSha256: string }
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
  const { runsSha256 = '' } = deferral;
  if (attempt.runsSha256 !== undefined && attempt.runsSha256.toLowerCase() !== runsSha256) {
    return { kind: 'otherRuns', pendingSha256: runsSha256 };
  }
  return null;
}

/** Tells whether one more approval is still short of the quorum; the same person counts once. */
export function isShortOfQuorum(deferral: Deferral, attempt: DecisionAttempt): boolean {
  return withApproval(deferral, attempt).approvals.length < deferral.quorum;
}

/**
 * Returns the deferral with this approval counted under the email that counts as the approver's, so that nobody
 * counts twice by giving two names; under the name when there is no email. Where callers must differ as well,
 * nobody counts twice by naming two approvers either.
 */
export function withApproval(deferral: Deferral, attempt: DecisionAttempt): Deferral {
  const approval = approvalOf(deferral, attempt);
  const isCounted = deferral.approvals.some(
    (earlier) =>
      isSameName(earlier.approver, approval.approver) ||
      (deferral.distinctCallers && isSamePerson(earlier.caller ?? null, attempt.caller)),
  );
  return isCounted ? deferral : { ...deferral, approvals: [...deferral.approvals, approval] };
}

function approvalOf(deferral: Deferral, attempt: DecisionAttempt): Approval {
  const email = normaliseEmail(approverEmail(deferral, attempt) ?? '');
  const approval = { approver: email ?? approverName(deferral, attempt), at: attempt.at };
  if (attempt.caller === null) return approval;
  const { provider, userId, email: verified } = attempt.caller;
  const caller = { provider, userId, ...(verified === undefined ? {} : { email: verified }) };
  return { ...approval, caller };
}

/** Returns what an approver wrote, every character of it visible. */
export function noteOf({ note }: Pick<DecisionAttempt, 'note'>): string {
  return legible(note).trim();
}

/** Returns the record of a deferral that this attempt settles. */
export function settle(deferral: Deferral, attempt: DecisionAttempt): SettledDeferral {
  return {
    id: deferral.id,
    tool: deferral.tool,
    argsSha256: deferral.argsSha256,
    decision: attempt.verb,
    approver: approverName(deferral, attempt),
    note: noteOf(attempt),
    approvers: deferral.approvers,
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
