import type { Approval, Deferral, RequiredReason } from '../domain/task.ts';
import { chatProvider, excludesAskers, isListed, isProgram } from './approvers.ts';
import type { DeferRule } from './defer-policy.ts';
import { countedAs, largerQuorumOf } from './quorum.ts';
import { isSameName, isSamePerson, type PersonKey } from './same-person.ts';
import { readEntry, type Standing } from './standing.ts';

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
  const { isEditable, remember, alsoBy: _, quorumOf: _quorumOf, ...stored } = deferral;
  const distinctCallers = deferral.distinctCallers || rule.distinctCallers;
  return {
    ...stored,
    ...(isEditable === true && rule.isEditable === true ? { isEditable } : {}),
    ...shorterMemory(remember, rule.remember),
    ...listedByBoth(deferral, rule),
    quorum: Math.max(deferral.quorum, rule.quorum),
    ...largerQuorumOf(deferral.quorumOf, rule.quorumOf),
    fourEyes: deferral.fourEyes || rule.fourEyes,
    bindApprover: deferral.bindApprover || rule.bindApprover,
    ...separatedByBoth(deferral, rule),
    distinctCallers,
    ...(rule.requirePasskey === true ? { requirePasskey: true } : {}),
    ...demanded(deferral.requireReason, rule.requireReason),
    approvals: deferral.approvals.filter(
      (approval, index, all) =>
        !(distinctCallers && all.slice(0, index).some((one) => isFromSame(approval, one))) &&
        isListed(rule, countedAs(approval)) &&
        (rule.requirePasskey !== true || approval.passkey === true) &&
        (!rule.bindApprover || isOwnName(approval)) &&
        !isProgram(rule.separation, approval.caller ?? null) &&
        (!excludesAskers(rule, approval.caller ?? null) ||
          !askers.some((one) => isFrom(approval, one))),
    ),
  };
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

/** Returns the limits of remembered approvals that two rules have in common; none if one of them allows no such approval. */
export function shorterMemory(
  one: DeferRule['remember'],
  other: DeferRule['remember'],
): Pick<DeferRule, 'remember'> {
  if (one === undefined || other === undefined) return {};
  const { min } = Math;
  return { remember: { time: min(one.time, other.time), uses: min(one.uses, other.uses) } };
}

/** Joins the separation of two rules: a program of either may not decide. */
export function separatedByBoth(
  { separation: one }: Pick<DeferRule, 'separation'>,
  { separation: other }: Pick<DeferRule, 'separation'>,
): Pick<DeferRule, 'separation'> {
  if (one === undefined || other === undefined) {
    const separation = one ?? other;
    return separation === undefined ? {} : { separation };
  }
  return {
    separation: {
      programs: [...new Set([...one.programs, ...other.programs])],
      deciders: one.deciders.filter((name) => other.deciders.includes(name)),
    },
  };
}

type Lists = Pick<DeferRule, 'approvers' | 'alsoBy'>;

/**
 * Returns the approvers of two rules; a list that is `null` excludes no one. Lists of emails are joined to one; others are
 * kept separately, because the members of a group are known only when they decide.
 */
export function listedByBoth(one: Lists, other: Lists): Lists {
  const lists = [one, other]
    .flatMap(({ approvers, alsoBy = [] }) => [
      ...(approvers === null ? [] : [approvers]),
      ...alsoBy,
    ])
    .reduce<string[][]>((joined, list) => {
      const same = joined.findIndex((known) => isEmailList(known) && isEmailList(list));
      if (same >= 0) {
        return joined.map((known, at) =>
          at === same ? known.filter((email) => list.includes(email)) : known,
        );
      }
      return joined.some((known) => isSameList(known, list)) ? joined : [...joined, [...list]];
    }, []);
  const [approvers = null, ...alsoBy] = lists;
  return { approvers, ...(alsoBy.length === 0 ? {} : { alsoBy }) };
}

function isEmailList(list: readonly string[]): boolean {
  return list.every((entry) => readEntry(entry) === null);
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((entry) => other.includes(entry));
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
