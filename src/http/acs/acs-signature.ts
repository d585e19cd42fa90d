import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../../machines/json.ts';

/** The only signature algorithm that the gate verifies and uses. */
export const acsAlgorithm = 'HMAC-SHA256';

/** The key of one session with the name of its secret. */
export interface SessionKey {
  keyId: string;
  key: Buffer;
}

/** Derives the key of a session from a secret: HKDF-SHA256 without salt, with the session's id as `info`. */
export function sessionKey(keyId: string, secret: string, sessionId: string): SessionKey {
  const key = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), sessionId, 32));
  return { keyId, key };
}

/** The member of an envelope that holds its signature. */
type Signed = 'params' | 'result' | 'error';

/** Returns whether the signature of a request is valid. Compares in constant time. */
export function isSignedBy({ key }: SessionKey, envelope: JsonObject, value: string): boolean {
  const expected = mac(key, unsigned(envelope, 'params'));
  const given = Buffer.from(value, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Signs an answer in its `result` or `error`. */
export function signed({ keyId, key }: SessionKey, answer: JsonObject): JsonObject {
  const part = 'result' in answer ? 'result' : 'error';
  const value = mac(key, answer).toString('base64');
  const signature = { algorithm: acsAlgorithm, value, key_id: keyId };
  return { ...answer, [part]: { ...(answer[part] as JsonObject), signature } };
}

function unsigned(envelope: JsonObject, part: Signed): JsonObject {
  const { signature: _, ...rest } = envelope[part] as JsonObject;
  return { ...envelope, [part]: rest };
}

function mac(key: Buffer, envelope: JsonObject): Buffer {
  return createHmac('sha256', key)
    .update(canonicalize(envelope) ?? '')
    .digest();
}
