import { createPublicKey, hash, verify } from 'node:crypto';
import type { KeyRing } from './key-ring.ts';
import type { PublicKeySet } from './public-keys.ts';

/** Returns the lower-case hex SHA-256 of some bytes, computed by Node. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

/** Verifies signatures with Node, in parallel on its thread pool. */
export function nodeKeyRing({ keys }: PublicKeySet): KeyRing {
  const objects = new Map(
    keys.map(({ kid, kty, crv, x }) => [
      kid,
      createPublicKey({ key: { kty, crv, x }, format: 'jwk' }),
    ]),
  );
  return {
    has: (kid) => objects.has(kid),
    verify(kid, bytes, signature) {
      const key = objects.get(kid);
      if (key === undefined) return Promise.resolve(false);
      return new Promise((resolve, reject) => {
        verify(null, bytes, key, signature, (error, isTrue) => {
          if (error === null) resolve(isTrue);
          else reject(error);
        });
      });
    },
  };
}
