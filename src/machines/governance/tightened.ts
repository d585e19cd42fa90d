import type { Approval, Deferral } from '../domain/task.ts';
import { chatProvider, excludesAskers, isListed, isProgram } from './approvers.ts';
import type { DeferRule } from './defer-policy.ts';
import { countedAs } from './quorum.ts';
import { isSameName, isSamePerson, type PersonKey } from './same-person.ts';
import { readEntry, type Standing } from './standing.ts';
import { stricter } from './stricter-terms.ts';

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
  // The deadline runs, and the effects of a rejection and of the timeout were announced.
  const { timeout, onReject, onTimeout } = deferral;
  const { onTimeout: _, ...today } = rule;
  const joined = stricter(deferral, {
    ...today,
    timeout,
    onReject,
    ...(onTimeout && { onTimeout }),
  });
  return {
    ...joined,
    approvals: deferral.approvals.filter(
      (approval, index, all) =>
        !(joined.distinctCallers && all.slice(0, index).some((one) => isFromSame(approval, one))) &&
        isListed(rule, countedAs(approval)) &&
        (rule.requirePasskey !== true || approval.passkey === true) &&
        (!rule.bindApprover || isOwnName(approval)) &&
        !isProgram(rule.separation, approval.caller ?? null) &&
        (!excludesAskers(rule, approval.caller ?? null) ||
          !askers.some((one) => isFrom(approval, one))),
    ),
  };
}

/** Returns whether the approvals that the rule in force accepts are fewer than its quorum. */
export function isShortOf(
  rule: DeferRule | null,
  deferral: Deferral,
  askers: readonly (PersonKey | null)[],
): boolean {
  const { approvals, quorum } = tightened(deferral, rule, askers);
  return approvals.length < quorum;
}

/**
 * Returns the approvals that still count, by what people are now: a person who has left a group, or whose
 * delegation has ended, no longer counts. A rotation counts as of the approval, and a token for what it vouched for.
 */
export function stillCounting(
  deferral: Pick<Deferral, 'approvals' | 'approvers' | 'alsoBy'>,
  standingOf: (email: string) => Standing,
): Approval[] {
  return deferral.approvals.flatMap((approval) => {
    const { approver, for: delegator, byToken = [], as = [] } = approval;
    const own = standingOf(approver);
    const right = delegator === undefined ? own : own.for?.find(({ email }) => email === delegator);
    if (right === undefined) return [];
    const left = as.filter(
      (entry) =>
        right.as.includes(entry) || byToken.includes(entry) || readEntry(entry)?.kind === 'oncall',
    );
    const counted = { ...approval, ...(as.length === 0 ? {} : { as: left }) };
    return isListed(deferral, countedAs(counted)) ? [counted] : [];
  });
}

/** Returns true if an approval is from a person who asked, or was given for that person. */
export function isFrom(
  { approver, caller, for: delegator }: Pick<Approval, 'approver' | 'caller' | 'for'>,
  asker: PersonKey | null,
): boolean {
  const names = [approver, delegator];
  return (
    isSamePerson(caller ?? null, asker) || names.some((name) => isSameName(name, asker?.email))
  );
}

/** Approvals without a caller are distinguished by name only. */
function isFromSame({ caller }: Approval, other: Approval): boolean {
  return isSamePerson(caller ?? null, other.caller ?? null);
}

/** A chat vouches for its users, even without their email. */
function isOwnName({ approver, caller }: Approval): boolean {
  return caller?.provider === chatProvider || isSameName(caller?.email, approver);
}
