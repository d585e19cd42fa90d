import canonicalize from 'canonicalize';
import type { JsonObject } from '../../../machines/json.ts';
import type { KeyRing } from './key-ring.ts';

/** What can be wrong with the signature of a line. */
export type SignatureReason =
  | 'sig is missing'
  | 'kid is missing'
  | 'sig is not an Ed25519 signature in base64'
  | 'kid is not one of the keys'
  | 'sig does not match the line';

/** 88 characters carry 64 bytes when the last one before the padding holds two bits. */
const encodedSignature = /^[A-Za-z0-9+/]{85}[AQgw]==$/;
const encoder = new TextEncoder();

/**
 * Checks what a line says about its signature (docs/contract/audit.md), and with `keys` the signature itself; `null`
 * when all is well. A line that names a key has lost its signature when it carries none.
 *
 * @param line in canonical form
 */
export function verifySignature(
  line: JsonObject,
  { keys, requireSigned }: { keys: KeyRing | null; requireSigned: boolean },
): SignatureReason | null | Promise<SignatureReason | null> {
  const { sig, kid } = line;
  if (sig === undefined) return requireSigned || kid !== undefined ? 'sig is missing' : null;
  if (typeof kid !== 'string' || kid === '') return 'kid is missing';
  if (typeof sig !== 'string' || !encodedSignature.test(sig)) {
    return 'sig is not an Ed25519 signature in base64';
  }
  if (keys === null) return null;
  return keys.has(kid) ? checkSignature(line, sig, kid, keys) : 'kid is not one of the keys';
}

async function checkSignature(
  line: JsonObject,
  sig: string,
  kid: string,
  keys: KeyRing,
): Promise<SignatureReason | null> {
  const { sig: _, ...unsigned } = line;
  const bytes = encoder.encode(canonicalize(unsigned));
  const signature = Uint8Array.from(atob(sig), (character) => character.charCodeAt(0));
  const isTrue = await keys.verify(kid, bytes, signature).catch(() => false);
  return isTrue ? null : 'sig does not match the line';
}
