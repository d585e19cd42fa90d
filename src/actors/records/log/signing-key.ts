import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { commandLine } from '../../command-line.ts';
import { type LineSigner, lineSigner } from './line-signer.ts';
import { type PublicKey, publicKey } from './public-keys.ts';

/** The signing key of the log is invalid; the message names its place and never contains its value. */
export class SigningKeyError extends Error {
  readonly code = 'signing_key_unusable';
}

/** The signing key of the log, and its public part. */
export interface SigningKey {
  signer: LineSigner;
  publicKey: PublicKey;
}

const pem = /^-----BEGIN ([A-Z ]+)-----/;
const base64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/;

/**
 * Reads the Ed25519 key in the variable `key_env`: PKCS#8 as PEM, whose line breaks may be written as `\n`, or as
 * base64 DER (docs/contract/audit.md).
 *
 * @throws SigningKeyError when it is not set or holds no such key
 */
export function readSigningKey(
  env: Readonly<Record<string, string | undefined>>,
  { key_env: variable, kid }: { key_env: string; kid: string },
): SigningKey {
  const text = Object.hasOwn(env, variable) ? env[variable]?.trim() : undefined;
  if (text === undefined || text === '') {
    throw new SigningKeyError(
      `the environment variable ${variable} is not set; it must hold the audit key, which ${commandLine('key generate')} makes`,
    );
  }
  const privateKey = parseSigningKey(text, `the environment variable ${variable}`);
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { signer: lineSigner(kid, privateKey), publicKey: publicKey(kid, x as string) };
}

/**
 * Parses an Ed25519 private key. `place` names where the text is, for errors.
 *
 * @throws SigningKeyError for any other text
 */
export function parseSigningKey(text: string, place: string): KeyObject {
  const says = (what: string) =>
    new SigningKeyError(
      `${place} ${what}; it must hold an Ed25519 private key as PKCS#8, PEM or base64`,
    );
  const label = pem.exec(text)?.[1];
  if (label?.includes('PUBLIC') === true) throw says('holds a public key');
  if (label === 'ENCRYPTED PRIVATE KEY') throw says('holds an encrypted key');
  if (label === undefined && !base64.test(text)) throw says('is neither PEM nor base64');
  let key: KeyObject;
  try {
    key = label === undefined ? fromDer(text) : createPrivateKey(text.replaceAll('\\n', '\n'));
  } catch {
    // OpenSSL's message may quote the key, so it is dropped.
    throw says(label === undefined && isPublicDer(text) ? 'holds a public key' : 'holds no key');
  }
  const type = key.asymmetricKeyType;
  if (type !== 'ed25519') throw says(`holds a key of another kind (${type})`);
  return key;
}

function fromDer(text: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
}

function isPublicDer(text: string): boolean {
  try {
    createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    return true;
  } catch {
    return false;
  }
}
