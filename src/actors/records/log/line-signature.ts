import canonicalize from 'canonicalize';
import type { JsonObject } from '../../../machines/json.ts';
import type { KeyRing } from './key-ring.ts';

/** Faults of a line's signature. */
export type SignatureReason =
  | 'sig is missing'
  | 'kid is missing'
  | 'sig is not an Ed25519 signature in base64'
  | 'kid is not one of the keys'
  | 'sig does not match the line';

/** 88 characters encode 64 bytes if the last one before the padding carries two bits. */
const encodedSignature = /^[A-Za-z0-9+/]{85}[AQgw]==$/;
const encoder = new TextEncoder();

/**
 * Checks the signature members of a line (docs/contract/audit.md), and with `keys` the signature itself; `null` if
 * valid. A line with a `kid` but without `sig` has lost its signature.
 *
 * @param line in canonical form
 * @param domain text before the signed text; a line has none
 */
export function verifySignature(
  line: JsonObject,
  {
    keys,
    requireSigned,
    domain = '',
  }: { keys: KeyRing | null; requireSigned: boolean; domain?: string },
): SignatureReason | null | Promise<SignatureReason | null> {
  const { sig, kid } = line;
  if (sig === undefined) return requireSigned || kid !== undefined ? 'sig is missing' : null;
  if (typeof kid !== 'string' || kid === '') return 'kid is missing';
  if (typeof sig !== 'string' || !encodedSignature.test(sig)) {
    return 'sig is not an Ed25519 signature in base64';
  }
  if (keys === null) return null;
  return keys.has(kid)
    ? checkSignature(line, { sig, kid, keys, domain })
    : 'kid is not one of the keys';
}

async function checkSignature(
  line: JsonObject,
  { sig, kid, keys, domain }: { sig: string; kid: string; keys: KeyRing; domain: string },
): Promise<SignatureReason | null> {
  const { sig: _, ...unsigned } = line;
  const bytes = encoder.encode(`${domain}${canonicalize(unsigned)}`);
  const signature = Uint8Array.from(atob(sig), (character) => character.charCodeAt(0));
  const isTrue = await keys.verify(kid, bytes, signature).catch(() => false);
  return isTrue ? null : 'sig does not match the line';
}
