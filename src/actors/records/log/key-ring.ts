/** Public keys by name, with signature verification; implemented for Node and for browsers. */
export interface KeyRing {
  has(kid: string): boolean;
  /** Returns whether a 64-byte signature of these bytes is valid under a known key. */
  verify(kid: string, bytes: Uint8Array, signature: Uint8Array): Promise<boolean>;
}
