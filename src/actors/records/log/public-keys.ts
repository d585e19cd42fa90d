import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../machines/json.ts';

/** A public Ed25519 key as a JWK (RFC 8037). */
export interface PublicKey {
  kty: 'OKP';
  crv: 'Ed25519';
  /** The 32 bytes of the key in base64url. */
  x: string;
  /** Key name in signed lines. */
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
}

/** The public keys of a log as a JWKS; every `kid` is unique. */
export interface PublicKeySet {
  keys: readonly PublicKey[];
}

/** Public keys are invalid; the message names key and reason, and never contains a key. */
export class PublicKeyError extends Error {
  readonly code = 'audit_keys_invalid';
}

/** 43 characters encode 32 bytes if the last one carries four bits. */
const encodedKey = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/**
 * Parses a JWKS of Ed25519 keys (docs/contract/audit.md).
 *
 * @throws PublicKeyError for an invalid JWKS, a key of another type, an invalid key, and a duplicate `kid`
 */
export function readPublicKeys(text: string): PublicKeySet {
  const value = parseJson(text);
  if (value === undefined) {
    throw new PublicKeyError('it is not valid JSON; it must be a JWKS such as {"keys": []}');
  }
  const list = isJsonObject(value) ? value['keys'] : undefined;
  if (!Array.isArray(list)) {
    throw new PublicKeyError('it has no list "keys"; it must be a JWKS such as {"keys": []}');
  }
  return publicKeySet(list.map((key, index) => readKey(key, `key ${index + 1}`)));
}

/**
 * Merges keys into a set without duplicates.
 *
 * @throws PublicKeyError when different keys share a `kid`
 */
export function publicKeySet(keys: readonly PublicKey[]): PublicKeySet {
  const byName = new Map<string, PublicKey>();
  for (const key of keys) {
    const other = byName.get(key.kid);
    if (other !== undefined && other.x !== key.x) {
      const name = JSON.stringify(key.kid);
      throw new PublicKeyError(`two different keys have the kid ${name}; give each its own`);
    }
    byName.set(key.kid, key);
  }
  return { keys: [...byName.values()] };
}

/** Creates the JWK of a key from its name and its base64url `x`. */
export function publicKey(kid: string, x: string): PublicKey {
  return { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' };
}

function readKey(key: JsonValue, where: string): PublicKey {
  if (!isJsonObject(key)) throw new PublicKeyError(`${where} is not a JSON object`);
  const { kid, x } = key;
  if (typeof kid !== 'string' || kid === '') {
    throw new PublicKeyError(`${where} has no "kid"; give it the name that signed lines carry`);
  }
  const wrong = complaint(key);
  if (wrong !== null) throw new PublicKeyError(`${where} (kid ${JSON.stringify(kid)}) ${wrong}`);
  return publicKey(kid, x as string);
}

function complaint({ kty, crv, x, d, alg }: JsonObject): string | null {
  if (d !== undefined) return 'holds a private key; publish the public part alone';
  if (kty !== 'OKP' || crv !== 'Ed25519') {
    return 'is not an Ed25519 key; it needs "kty": "OKP" and "crv": "Ed25519"';
  }
  if (alg !== undefined && alg !== 'EdDSA' && alg !== 'Ed25519') {
    return 'is not for Ed25519 signatures; its "alg" must be "EdDSA"';
  }
  const isKey = typeof x === 'string' && encodedKey.test(x);
  return isKey ? null : 'has no usable "x"; it must be 32 bytes in base64url';
}
