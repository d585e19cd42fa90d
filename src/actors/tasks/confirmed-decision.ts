import type { ConfirmedDecision } from '../../machines/domain/passkey-confirmation.ts';
import type { Deferral } from '../../machines/domain/task.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import { argsDigest } from '../governance/governance.ts';

/** Returns what a passkey confirms with a decision on a held call. */
export function confirmedDecision(
  { id: deferralId, tool, argsSha256 }: Deferral,
  { verb: decision, args }: Pick<DecisionAttempt, 'verb' | 'args'>,
): ConfirmedDecision {
  const edited = args === undefined ? argsSha256 : argsDigest(tool, args);
  return {
    ...{ deferralId, argsSha256, decision },
    ...(edited === argsSha256 ? {} : { editedArgsSha256: edited }),
  };
}
