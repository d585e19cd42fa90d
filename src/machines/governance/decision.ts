import type { Approval, Deferral, SettledDeferral } from '../domain/task.ts';
import { legible } from '../legible.ts';
import { approverEmail, approverName, type DecisionAttempt } from './approvers.ts';
import { normaliseEmail } from './email.ts';
import { isSameName, isSamePerson } from './same-person.ts';

/** The answer to a decision attempt (docs/contract/decisions.md); each kind maps to one HTTP status. */
export type DecisionAnswer =
  | {
      kind: 'resolved' | 'recorded';
      deferralId: string;
      decision: DecisionAttempt['verb'];
      approver: string;
    }
  | { kind: 'forbidden' }
  /** The rule demands a note for this decision, and the attempt has none. */
  | { kind: 'noReason'; decision: DecisionAttempt['verb'] }
  | { kind: 'decided'; settled: SettledDeferral }
  | { kind: 'otherDeferral'; pendingId: string }
  | { kind: 'otherArguments'; pendingSha256: string }
  | { kind: 'otherRuns'; pendingSha256: string }
  | { kind: 'notPending' };

/** Returns the answer for a task without a pending deferral: the earlier decision, or that nothing was pending. */
export function answerWithoutPending(settled: SettledDeferral | null): DecisionAnswer {
  return settled === null ? { kind: 'notPending' } : { kind: 'decided', settled };
}

/** Returns the answer for an attempt pinned to something other than the pending call; `null` if the pins match. */
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

/** Returns true if the quorum is not reached with one more approval. Approvals of the same person count once. */
export function isShortOfQuorum(deferral: Deferral, attempt: DecisionAttempt): boolean {
  return withApproval(deferral, attempt).approvals.length < deferral.quorum;
}

/**
 * Returns the deferral with this approval added. The approval counts under the email used as the approver's, so a
 * person cannot count twice by giving two names; without an email it counts under the name. If callers must also
 * differ, naming two approvers does not count twice either.
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

/** Returns true if a decision with this verb needs a note. */
export function needsReason(
  { requireReason }: Pick<Deferral, 'requireReason'>,
  verb: DecisionAttempt['verb'],
): boolean {
  return requireReason === 'both' || requireReason === verb;
}

/** Returns true if an attempt lacks the note that the rule demands; it needs a visible letter or digit. */
export function lacksReason(deferral: Deferral, attempt: DecisionAttempt): boolean {
  const visible = attempt.note.replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
  return needsReason(deferral, attempt.verb) && !/[\p{L}\p{N}]/u.test(visible);
}

/** Returns the approver's note with every character visible. */
export function noteOf({ note }: Pick<DecisionAttempt, 'note'>): string {
  return legible(note).trim();
}

/** Returns the record of a deferral settled by this attempt. */
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

/** Returns the answer to a counted attempt: it settled the deferral, or it is one approval of a quorum. */
export function answerCounted(
  kind: 'resolved' | 'recorded',
  deferral: Deferral,
  attempt: DecisionAttempt,
): DecisionAnswer {
  const approver = approverName(deferral, attempt);
  return { kind, deferralId: deferral.id, decision: attempt.verb, approver };
}
