import type { Deferral } from '../../machines/domain/task.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import type { ProposedEdit } from '../../machines/governance/decision.ts';
import type { AppliedRule } from '../../machines/governance/ruling.ts';
import { argsDigest, type Policy } from '../governance/governance.ts';
import type { Ids } from '../ports/ids.ts';
import { argumentFault } from './effects/argument-fault.ts';

/**
 * Compares the arguments of a decision with those of the pending call; `null` if the decision has none. `before` is the
 * rule in force for the pending call.
 */
export function proposedEdit(
  deferral: Deferral | null,
  { args }: Pick<DecisionAttempt, 'args'>,
  before: AppliedRule | null,
  { policy, ids }: { policy: Policy; ids: Ids },
): ProposedEdit | null {
  if (deferral === null || before === null || args === undefined) return null;
  const { tool } = deferral;
  const { changes, misfit } = policy.changesOf(deferral, args);
  return {
    args,
    argsSha256: argsDigest(tool, args),
    changes,
    fault: argumentFault(tool, args) ?? misfit,
    before,
    heldAs: ids.next(),
  };
}
