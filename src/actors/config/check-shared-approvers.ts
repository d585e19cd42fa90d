import { namesOnePerson } from '../../machines/governance/email.ts';
import { deciders } from '../../machines/governance/quorum.ts';
import { readEntry } from '../../machines/governance/standing.ts';
import { normalName } from '../tool-name.ts';
import { pairs, placeIn } from './check-include-order.ts';
import { errorAt, type Finding, warningAt } from './config-problem.ts';
import type { ReadPolicy } from './included-policy.ts';
import { holdingRules } from './tool-rules.ts';

type Holding = ReturnType<typeof holdingRules>[number];

/**
 * Finds holds of two policies that together demand more approvals than people who are on both lists can give. Rules that
 * apply only under a condition may never meet, so they cause a warning.
 */
export function checkSharedApprovers(
  { security }: Pick<ReadPolicy, 'security'>,
  others: Pick<ReadPolicy, 'security' | 'file' | 'tree'>,
): Finding[] {
  const { defer } = others.security;
  if (!security.defer.enabled || !defer.enabled) return [];
  return pairs(holdingRules(security.defer.tools), holdingRules(defer.tools)).flatMap(
    ([own, theirs]) => {
      const { approvers: mine, quorum: one } = deciders(own.rule, security.defer.default_approvers);
      const { approvers: list, quorum: two } = deciders(theirs.rule, defer.default_approvers);
      if (mine === null || list === null) return [];
      // The members of a group are known only when they decide.
      if ([...mine, ...list].some((entry) => readEntry(entry) !== null)) return [];
      const quorum = Math.max(one, two);
      const { size } = new Set(mine.filter((each) => namesOnePerson(each) && list.includes(each)));
      if (size >= quorum) return [];
      const message = `the quorum can never be met: ${quorum} approvals are needed and ${size} may approve both by this rule and by ${placeIn(others, theirs)}; name approvers who are on both lists`;
      const isCertain =
        [own, theirs].every(always) && normalName(own.tool) === normalName(theirs.tool);
      return [(isCertain ? errorAt : warningAt)(own.path, message)];
    },
  );
}

function always({ rule: { when, shadow } }: Holding): boolean {
  return when === undefined && !shadow;
}
