/** The decision that a person confirms with a passkey. */
export interface ConfirmedDecision {
  deferralId: string;
  /** `argsSha256` of the held call. */
  argsSha256: string;
  decision: 'approve' | 'reject';
  /** `argsSha256` of the call as the approver changes it; absent for no change. */
  editedArgsSha256?: string;
}

/** The assertion of a passkey with all that is needed to verify it offline; binary values are in base64url. */
export interface PasskeyAssertion {
  credential_id: string;
  /** COSE key. */
  public_key: string;
  /** Chosen by the daemon for one confirmation. */
  nonce: string;
  rp_id: string;
  origin: string;
  authenticator_data: string;
  client_data: string;
  signature: string;
}

/** A decision that was confirmed with a passkey of the approver, whose assertion has been verified. */
export interface PasskeyConfirmation {
  confirmed: ConfirmedDecision;
  assertion: PasskeyAssertion;
}
