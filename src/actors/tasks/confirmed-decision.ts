import type { ConfirmedDecision } from '../../machines/domain/passkey-confirmation.ts';
import type { Deferral } from '../../machines/domain/task.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import { callDigests } from '../governance/governance.ts';

/**
 * Returns what a passkey confirms with a decision on a held call; `null` for a call of an older release without the digest.
 */
export function confirmedDecision(
  { id: deferralId, tool, callSha256 }: Deferral,
  { verb: decision, args }: Pick<DecisionAttempt, 'verb' | 'args'>,
): ConfirmedDecision | null {
  if (callSha256 === undefined) return null;
  const edited = args === undefined ? callSha256 : callDigests(tool, args).callSha256;
  return {
    ...{ deferralId, callSha256, decision },
    ...(edited === callSha256 ? {} : { editedCallSha256: edited }),
  };
}
