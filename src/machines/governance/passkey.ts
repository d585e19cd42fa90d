import type { ConfirmedDecision } from '../domain/passkey-confirmation.ts';
import type { Deferral } from '../domain/task.ts';
import type { DecisionAttempt } from './approvers.ts';
import type { ProposedEdit } from './decision.ts';

/**
 * Returns the text whose SHA-256 is the WebAuthn challenge of a decision: RFC 8785 JSON with the names that the log uses
 * (docs/contract/approvals-page.md).
 */
export function passkeyText(
  { deferralId, argsSha256, decision, editedArgsSha256 }: ConfirmedDecision,
  nonce: string,
): string {
  return JSON.stringify({
    args_sha256: argsSha256,
    decision,
    deferral_id: deferralId,
    ...(editedArgsSha256 === undefined ? {} : { edited_args_sha256: editedArgsSha256 }),
    nonce,
  });
}

/**
 * Returns true if a decision lacks the passkey that the rule demands for approvals, or if its passkey has confirmed
 * another decision.
 */
export function lacksPasskey(
  deferral: Deferral,
  attempt: DecisionAttempt,
  edit: ProposedEdit | null,
): boolean {
  const isNeeded = deferral.requirePasskey === true && attempt.verb === 'approve';
  return (isNeeded || attempt.passkey !== undefined) && !isConfirmed(deferral, attempt, edit);
}

/** Returns true if a passkey has confirmed exactly this decision. */
function isConfirmed(
  deferral: Deferral,
  { verb, passkey }: DecisionAttempt,
  edit: ProposedEdit | null,
): boolean {
  if (passkey === undefined) return false;
  const { deferralId, argsSha256, decision, editedArgsSha256 } = passkey.confirmed;
  const edited = edit?.argsSha256 === deferral.argsSha256 ? undefined : edit?.argsSha256;
  return (
    deferralId === deferral.id &&
    argsSha256 === deferral.argsSha256 &&
    decision === verb &&
    editedArgsSha256 === edited
  );
}
