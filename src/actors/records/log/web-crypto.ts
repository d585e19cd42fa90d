import type { KeyRing } from './key-ring.ts';
import type { PublicKeySet } from './public-keys.ts';

const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Returns the lower-case hex SHA-256 of some bytes, computed by WebCrypto. */
export async function webSha256Hex(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  let hex = '';
  for (const byte of new Uint8Array(digest)) hex += pairs[byte];
  return hex;
}

/** Verifies signatures with WebCrypto. Rejects if it accepts none of the keys. */
export async function webKeyRing({ keys }: PublicKeySet): Promise<KeyRing> {
  const imported = await Promise.all(
    keys.map(async ({ kid, kty, crv, x }) => {
      const jwk = { kty, crv, x };
      const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']);
      return [kid, key] as const;
    }),
  );
  const byName = new Map(imported);
  return {
    has: (kid) => byName.has(kid),
    async verify(kid, bytes, signature) {
      const key = byName.get(kid);
      if (key === undefined) return false;
      const [signed, data] = [new Uint8Array(signature), new Uint8Array(bytes)];
      return crypto.subtle.verify('Ed25519', key, signed, data);
    },
  };
}
