import type { WaitTerms } from '../domain/task.ts';
import type { DeferRule } from './defer-policy.ts';
import { stricter } from './stricter-terms.ts';

/**
 * Joins the holds of two policies. Only approvers on each list may decide, even if the lists share no one: neither policy
 * can replace the approvers of the other.
 */
export function strictestOfBoth(rule: DeferRule, other: DeferRule): DeferRule {
  return { ...stricter(rule, other), remind: rule.remind || other.remind };
}

/**
 * Adds the demands of another rule to a rule that holds a call, so that the result is at least as strict as the first
 * one: the larger quorum, the shorter timeout, the reasons that either requires. Only approvers on each list may decide,
 * those of the first if the lists share nobody. The targets stay those of the first, because anyone at another target
 * might decide as well.
 */
export function strictest(rule: DeferRule, other: DeferRule): DeferRule {
  return decidable(strictestOfBoth(rule, other), rule);
}

/** Returns terms with the approvers of the leading rule if its list and the one that joined it share nobody. */
export function decidable<Held extends WaitTerms>(
  { alsoBy, ...joined }: Held,
  { approvers, alsoBy: own }: Pick<WaitTerms, 'approvers' | 'alsoBy'>,
): Held {
  const lists =
    joined.approvers?.length === 0
      ? { approvers, ...(own && { alsoBy: own }) }
      : { ...(alsoBy && { alsoBy }) };
  // Safe to cast: only the lists are replaced.
  return { ...joined, ...lists } as Held;
}
