const prefix = 'whsec_';

/** Minimum size of a key, in bytes. */
const leastBytes = 16;

/** Base64; the last group may lack its padding. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Returns the fault of a webhook secret, in a sentence that follows its name and reveals nothing of it; `null` for a
 * valid one.
 */
export function webhookSecretFault(secret: string): string | null {
  if (secret.trim() === '') return 'must not be empty; make one with: openssl rand -base64 32';
  if (secret.trim() !== secret) {
    return 'begins or ends with white space; remove it, since receivers would not match it';
  }
  const keys = prefixed(secret) ?? [secret];
  const isBase64 = (key: string) => !key.startsWith(prefix) || base64.test(encodedOf(key));
  if (!keys.every(isBase64)) return `must be base64 after ${prefix}; copy it again`;
  if (!webhookKeys(secret).every((key) => key.length >= leastBytes)) {
    return `must hold ${leastBytes} bytes or more; make one with: openssl rand -base64 32`;
  }
  return null;
}

/**
 * Returns the signing keys of a secret: the base64 bytes after `whsec_`, or the UTF-8 bytes of any other text. Several
 * space-separated `whsec_` secrets are one key each, for rotation.
 */
export function webhookKeys(secret: string): Buffer[] {
  return (
    prefixed(secret)?.map((key) => Buffer.from(encodedOf(key), 'base64')) ?? [Buffer.from(secret)]
  );
}

/** Splits a string of `whsec_` secrets; `null` for any other text. */
function prefixed(secret: string): string[] | null {
  const words = secret.split(/\s+/);
  return words.every((word) => word.startsWith(prefix)) ? words : null;
}

function encodedOf(key: string): string {
  return key.slice(prefix.length);
}
