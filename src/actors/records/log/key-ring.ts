/** Public keys by name, and how signatures are checked with them; one for Node and one for browsers. */
export interface KeyRing {
  has(kid: string): boolean;
  /** Returns whether a signature of 64 bytes is one of these bytes by a key that is there. */
  verify(kid: string, bytes: Uint8Array, signature: Uint8Array): Promise<boolean>;
}
