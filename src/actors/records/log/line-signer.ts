import { type KeyObject, sign } from 'node:crypto';

/** Signs the lines of a log with one Ed25519 key (docs/contract/audit.md). */
export interface LineSigner {
  /** Name of the key, included in every signed line. */
  readonly kid: string;
  /** Signs bytes; returns the signature in base64. */
  sign(bytes: Uint8Array): string;
}

/** Creates a signer for an Ed25519 private key; the key is accessible only through `sign`. */
export function lineSigner(kid: string, privateKey: KeyObject): LineSigner {
  return { kid, sign: (bytes) => sign(null, bytes, privateKey).toString('base64') };
}
