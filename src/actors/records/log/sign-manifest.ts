import canonicalize from 'canonicalize';
import type { JsonObject } from '../../../machines/json.ts';
import type { LineSigner } from './line-signer.ts';
import { manifestDomain } from './manifest-fault.ts';

/** Returns the signature of a backup's manifest and the name of its key, with which `manifestFault` verifies it. */
export function signManifest(
  manifest: JsonObject,
  signer: LineSigner,
): { kid: string; sig: string } {
  const { kid } = signer;
  const text = `${manifestDomain}${canonicalize({ ...manifest, kid })}`;
  return { kid, sig: signer.sign(Buffer.from(text)) };
}
