import { createECDH, hkdfSync } from 'node:crypto';

/** The key pair with which daemons identify themselves to push services (RFC 8292), in base64url. */
export interface VapidKey {
  publicKey: string;
  privateKey: string;
}

/** Derives the key pair from a random key of the store, so that all daemons over the store have the same. */
export function vapidKey(seed: Uint8Array): VapidKey {
  for (let attempt = 0; ; attempt += 1) {
    const scalar = Buffer.from(hkdfSync('sha256', seed, '', `holdpoint vapid ${attempt}`, 32));
    const pair = createECDH('prime256v1');
    try {
      pair.setPrivateKey(scalar);
    } catch {
      // Not a number below the order of the curve; one of about four billion is none.
      continue;
    }
    return {
      publicKey: pair.getPublicKey().toString('base64url'),
      privateKey: scalar.toString('base64url'),
    };
  }
}
