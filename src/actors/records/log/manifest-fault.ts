import type { JsonObject } from '../../../machines/json.ts';
import { type SignatureReason, verifySignature } from './line-signature.ts';
import { nodeKeyRing } from './node-crypto.ts';
import type { PublicKeySet } from './public-keys.ts';

/**
 * Precedes the signed text of a backup's manifest. A line of the log begins with `{` and a receipt with base64, so no
 * signature of one is valid for another.
 */
export const manifestDomain = 'holdpoint-backup\n';

/** Returns why a backup's manifest is not signed with one of the keys; `null` if it is. */
export async function manifestFault(
  manifest: JsonObject,
  keys: PublicKeySet,
): Promise<SignatureReason | null> {
  const ring = nodeKeyRing(keys);
  return verifySignature(manifest, { keys: ring, requireSigned: true, domain: manifestDomain });
}
