import type { Approval, Deferral, RequiredReason } from '../domain/task.ts';
import { chatProvider, isApprover } from './approvers.ts';
import type { DeferRule } from './defer-policy.ts';
import { isSameName, isSamePerson, type PersonKey } from './same-person.ts';

/**
 * Returns a deferral adjusted to the rule in force: its approvers are on both the stored and the current list, and the
 * larger quorum applies. Approvals that the current rule refuses do not count. A rule that became less strict changes
 * nothing (docs/contract/governance.md). `askers` contributed to the request.
 */
export function tightened(
  deferral: Deferral,
  rule: DeferRule | null,
  askers: readonly (PersonKey | null)[],
): Deferral {
  if (rule === null) return deferral;
  const { isEditable, ...stored } = deferral;
  const distinctCallers = deferral.distinctCallers || rule.distinctCallers;
  return {
    ...stored,
    ...(isEditable === true && rule.isEditable === true ? { isEditable } : {}),
    approvers: both(deferral.approvers, rule.approvers),
    quorum: Math.max(deferral.quorum, rule.quorum),
    fourEyes: deferral.fourEyes || rule.fourEyes,
    bindApprover: deferral.bindApprover || rule.bindApprover,
    distinctCallers,
    ...demanded(deferral.requireReason, rule.requireReason),
    approvals: deferral.approvals.filter(
      (approval, index, all) =>
        !(distinctCallers && all.slice(0, index).some((one) => isFromSame(approval, one))) &&
        isApprover(rule.approvers, approval.approver) &&
        (!rule.bindApprover || isOwnName(approval)) &&
        (!rule.fourEyes || !askers.some((one) => isFrom(approval, one))),
    ),
  };
}

/** Returns the approvers of both lists; a list that is `null` excludes no one. */
export function both(stored: string[] | null, today: string[] | null): string[] | null {
  if (stored === null) return today;
  return today === null ? stored : stored.filter((email) => today.includes(email));
}

/** Returns the decisions that need a note under either of two rules. */
export function demanded(
  stored: RequiredReason | undefined,
  today: RequiredReason | undefined,
): Pick<Deferral, 'requireReason'> {
  if (stored === undefined || today === undefined || stored === today) {
    const requireReason = stored ?? today;
    return requireReason === undefined ? {} : { requireReason };
  }
  return { requireReason: 'both' };
}

function isFrom({ approver, caller }: Approval, asker: PersonKey | null): boolean {
  return isSamePerson(caller ?? null, asker) || isSameName(approver, asker?.email);
}

/** Approvals without a caller are distinguished by name only. */
function isFromSame({ caller }: Approval, other: Approval): boolean {
  return isSamePerson(caller ?? null, other.caller ?? null);
}

/** A chat vouches for its users, even without their email. */
function isOwnName({ approver, caller }: Approval): boolean {
  return caller?.provider === chatProvider || isSameName(caller?.email, approver);
}
