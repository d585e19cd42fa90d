import { hash } from 'node:crypto';
import type { AcsSession, AcsSessions } from '../../actors/ports/acs-sessions.ts';
import type { JsonObject } from '../../machines/json.ts';
import { AcsError, type AcsRequest, acsVersion, isAcceptedVersion } from '../wire/acs.ts';
import { acsAlgorithm, isSignedBy, type SessionKey, sessionKey } from './acs-signature.ts';

/** The secrets of clients, by `key_id`. */
export type AcsSecrets = Readonly<Record<string, string>>;

/** Maximum number of steps of a session. */
const mostSteps = 100_000;

/** Returns the key of the valid signature of a request; `null` if it has none. */
export function keyOf(
  secrets: AcsSecrets,
  { params: { signature, metadata } }: AcsRequest,
  body: JsonObject,
): SessionKey | null {
  if (signature === undefined || signature.algorithm !== acsAlgorithm) return null;
  const { key_id: keyId, value } = signature;
  const secret = Object.hasOwn(secrets, keyId) ? secrets[keyId] : undefined;
  if (secret === undefined) return null;
  const key = sessionKey(keyId, secret, metadata.session_id);
  return isSignedBy(key, body, value) ? key : null;
}

/** Returns the key of the signature of a request. Throws AcsError if it has no valid one. */
export function verified(secrets: AcsSecrets, request: AcsRequest, body: JsonObject): SessionKey {
  const key = keyOf(secrets, request, body);
  if (key !== null) return key;
  const message =
    request.params.signature === undefined
      ? 'the request is not signed; sign it with HMAC-SHA256'
      : 'the signature does not match the request; check the secret and its key_id';
  throw new AcsError('signatureInvalid', message);
}

/** Checks the version and the time of a request. Throws AcsError. */
export function checkTerms({ params }: AcsRequest, { skew, now }: { skew: number; now: number }) {
  if (!isAcceptedVersion(params.acs_version)) throw otherVersion();
  if (Math.abs(Date.parse(params.timestamp) - now) <= skew) return;
  const message = `the timestamp is more than ${skew} ms away from the clock of the gate; set the clock right`;
  throw new AcsError('outOfWindow', message, { skew_window_ms: skew });
}

/** Checks that a session continues with its key and agent, and has not ended. Throws AcsError. */
export function checkSession(
  session: AcsSession,
  { method, params: { metadata } }: AcsRequest,
  keyId: string,
): void {
  if (session.keyId !== keyId || session.agentId !== metadata.agent_id) {
    const message = 'the session belongs to another agent or key; start a new session';
    throw new AcsError('sessionRefused', message);
  }
  if (session.entries >= mostSteps) {
    const message = `the session has ${mostSteps} steps; start a new session`;
    throw new AcsError('sessionRefused', message);
  }
  const mayContinue = method === 'handshake/hello' || method === 'steps/sessionStart';
  if (session.isEnded && !mayContinue) {
    throw new AcsError('sessionRefused', 'the session has ended; send steps/sessionStart');
  }
}

/** Stores that a request was used. Throws AcsError if it was used before in its session. */
export async function useOnce(sessions: AcsSessions, { params }: AcsRequest): Promise<void> {
  const { request_id: request, nonce, metadata } = params;
  const used = [
    request.toLowerCase(),
    ...(nonce === undefined ? [] : [`nonce:${hash('sha256', nonce, 'hex')}`]),
  ];
  if (await sessions.reserve(metadata.session_id, used)) return;
  const message = 'the request_id or nonce was used before in this session; use a new one';
  throw new AcsError('replayDetected', message);
}

/** The refusal of a client of another version. */
export function otherVersion(): AcsError {
  const message = `the gate speaks version ${acsVersion} of the Agent Control Standard; offer it`;
  return new AcsError('unsupportedVersion', message, { supported_versions: [acsVersion] });
}
