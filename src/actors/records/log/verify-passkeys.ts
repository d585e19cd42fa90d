import { hash } from 'node:crypto';
import type { PasskeyAssertion } from '../../../machines/domain/passkey-confirmation.ts';
import { passkeyText } from '../../../machines/governance/passkey.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';

/**
 * Returns why a passkey in the claims of a receipt has not confirmed its decision; `null` if each has.
 * The signature of the passkey covers the id of the call, its args_sha256 and the decision.
 */
export async function passkeyFault(claims: JsonObject): Promise<string | null> {
  const { decisions } = claims;
  for (const decision of Array.isArray(decisions) ? decisions : []) {
    if (!isJsonObject(decision) || decision['passkey'] === undefined) continue;
    const isConfirmed = await hasConfirmed(claims, decision).catch(() => false);
    if (!isConfirmed) {
      return `the passkey of ${JSON.stringify(decision['approver'] ?? '')} has not confirmed this decision: a member was changed`;
    }
  }
  return null;
}

async function hasConfirmed(claims: JsonObject, decision: JsonObject): Promise<boolean> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  // Safe to cast: each value is checked by the verification, which rejects any other type.
  const passkey = decision['passkey'] as unknown as PasskeyAssertion;
  const edited = decision['edited_args_sha256'];
  const text = passkeyText(
    {
      deferralId: textOf(claims['deferral_id']),
      argsSha256: textOf(decision['args_sha256']),
      decision: decision['decision'] === 'approve' ? 'approve' : 'reject',
      ...(edited === undefined ? {} : { editedArgsSha256: textOf(edited) }),
    },
    passkey.nonce,
  );
  const { verified } = await verifyAuthenticationResponse({
    response: {
      id: passkey.credential_id,
      rawId: passkey.credential_id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        authenticatorData: passkey.authenticator_data,
        clientDataJSON: passkey.client_data,
        signature: passkey.signature,
      },
    },
    expectedChallenge: hash('sha256', text, 'base64url'),
    expectedOrigin: passkey.origin,
    expectedRPID: passkey.rp_id,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id,
      publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
      counter: 0,
    },
  });
  return verified;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
