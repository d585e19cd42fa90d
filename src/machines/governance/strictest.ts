import type { DeferRule } from './defer-policy.ts';
import { largerQuorumOf } from './quorum.ts';
import { demanded, listedByBoth, separatedByBoth, shorterMemory } from './tightened.ts';

/**
 * Joins the holds of two policies. Only approvers of both lists may decide, even if the lists share no one: neither policy
 * can replace the approvers of the other.
 */
export function strictestOfBoth(rule: DeferRule, other: DeferRule): DeferRule {
  const { alsoBy: _, ...joined } = strictest(rule, other);
  return { ...joined, ...listedByBoth(rule, other) };
}

/**
 * Adds the demands of another rule to a rule that holds a call, so that the result is at least as strict as the first
 * one: the larger quorum, the shorter timeout, the reasons that either requires. Only approvers of both lists may decide,
 * those of the first if the lists share nobody. The targets stay those of the first, because anyone at another target
 * might decide as well.
 */
export function strictest(
  { isEditable, remember, onTimeout, alsoBy, ...rule }: DeferRule,
  other: DeferRule,
): DeferRule {
  const lists = listedByBoth(rule, other);
  const isNobody = lists.approvers?.length === 0;
  const requirePasskey = rule.requirePasskey ?? other.requirePasskey;
  const isFailure = onTimeout === undefined || other.onTimeout === undefined;
  return {
    ...rule,
    ...(isEditable === true && other.isEditable === true ? { isEditable } : {}),
    ...shorterMemory(remember, other.remember),
    ...(requirePasskey === undefined ? {} : { requirePasskey }),
    ...(isFailure ? {} : { onTimeout }),
    ...demanded(rule.requireReason, other.requireReason),
    ...(isNobody ? listsOf({ ...rule, ...(alsoBy && { alsoBy }) }) : lists),
    quorum: Math.max(rule.quorum, other.quorum),
    ...largerQuorumOf(rule.quorumOf, other.quorumOf),
    fourEyes: rule.fourEyes || other.fourEyes,
    bindApprover: rule.bindApprover || other.bindApprover,
    ...separatedByBoth(rule, other),
    distinctCallers: rule.distinctCallers || other.distinctCallers,
    timeout: Math.min(rule.timeout, other.timeout),
    onReject: rule.onReject === 'fail' ? 'fail' : other.onReject,
    remind: rule.remind || other.remind,
  };
}

function listsOf({ approvers, alsoBy }: DeferRule): Pick<DeferRule, 'approvers' | 'alsoBy'> {
  return { approvers, ...(alsoBy === undefined ? {} : { alsoBy }) };
}
