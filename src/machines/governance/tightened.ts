import type { Approval, Deferral } from '../task/task.ts';
import { chatProvider, isApprover } from './approvers.ts';
import type { DeferRule } from './defer-policy.ts';
import { isSameName, isSamePerson, type PersonKey } from './same-person.ts';

/**
 * Returns a deferral as it may be decided under the rule in force: its approvers are on the stored list and on today's,
 * and the larger quorum counts. Approvals that today's rule refuses do not count. A rule that became looser changes
 * nothing (docs/contract/governance.md). `askers` have a hand in what was asked for.
 */
export function tightened(
  deferral: Deferral,
  rule: DeferRule | null,
  askers: readonly (PersonKey | null)[],
): Deferral {
  if (rule === null) return deferral;
  const distinctCallers = deferral.distinctCallers || rule.distinctCallers;
  return {
    ...deferral,
    approvers: both(deferral.approvers, rule.approvers),
    quorum: Math.max(deferral.quorum, rule.quorum),
    fourEyes: deferral.fourEyes || rule.fourEyes,
    bindApprover: deferral.bindApprover || rule.bindApprover,
    distinctCallers,
    approvals: deferral.approvals.filter(
      (approval, index, all) =>
        !(distinctCallers && all.slice(0, index).some((one) => isFromSame(approval, one))) &&
        isApprover(rule.approvers, approval.approver) &&
        (!rule.bindApprover || isOwnName(approval)) &&
        (!rule.fourEyes || !askers.some((one) => isFrom(approval, one))),
    ),
  };
}

function both(stored: string[] | null, today: string[] | null): string[] | null {
  if (stored === null) return today;
  return today === null ? stored : stored.filter((email) => today.includes(email));
}

function isFrom({ approver, caller }: Approval, asker: PersonKey | null): boolean {
  return isSamePerson(caller ?? null, asker) || isSameName(approver, asker?.email);
}

/** Those who had no caller are told apart by their names alone. */
function isFromSame({ caller }: Approval, other: Approval): boolean {
  return isSamePerson(caller ?? null, other.caller ?? null);
}

/** A chat vouches for its people itself, also where it has no email of theirs. */
function isOwnName({ approver, caller }: Approval): boolean {
  return caller?.provider === chatProvider || isSameName(caller?.email, approver);
}
