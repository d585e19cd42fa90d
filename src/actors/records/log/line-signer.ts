import { type KeyObject, sign } from 'node:crypto';

/** Signs the lines of a log with one Ed25519 key (docs/contract/audit.md). */
export interface LineSigner {
  /** The name of the key, which every signed line carries. */
  readonly kid: string;
  /** Signs bytes; answers the signature in base64. */
  sign(bytes: Uint8Array): string;
}

/** Makes a signer of an Ed25519 private key, which is reachable through nothing but `sign`. */
export function lineSigner(kid: string, privateKey: KeyObject): LineSigner {
  return { kid, sign: (bytes) => sign(null, bytes, privateKey).toString('base64') };
}
