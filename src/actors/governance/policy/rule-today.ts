import type { Deferral } from '../../../machines/domain/task.ts';
import { heldByBounds } from '../../../machines/governance/bounded.ts';
import type { DeferRule } from '../../../machines/governance/defer-policy.ts';
import type { CallFacts } from '../conditions/condition-input.ts';
import type { Policy } from './policy.ts';

/** Returns the rule in force for a waiting call, with those for the limits and the repeat that its approvers see. */
export function ruleToday(
  defer: DeferRule | null,
  deferral: Deferral,
  { policy, facts }: { policy: Policy; facts: CallFacts },
): DeferRule | null {
  if (deferral.limits === undefined && deferral.first === undefined) return defer;
  const bounds = policy.boundsOf(deferral, facts);
  return bounds === null ? defer : heldByBounds({ defer }, bounds, deferral).defer;
}
