import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../../machines/error-code.ts';
import { lineSigner } from './line-signer.ts';
import { type PublicKey, publicKey, publicKeySet, readPublicKeys } from './public-keys.ts';
import { parseSigningKey, type SigningKey, SigningKeyError } from './signing-key.ts';

/** Name of an agent's private key in its state folder. */
const keyFileName = 'audit-key.pem';

/** Name of the list of public keys in the state folder. It outlives the private key. */
const publicFileName = 'audit-keys.json';

/** A signing key in the agent's state folder, and every key that was in use there. */
export interface FiledKey {
  /** `null` if there is none yet and none may be created. */
  key: SigningKey | null;
  known: readonly PublicKey[];
}

/**
 * Reads the signing key of an agent's state folder (docs/contract/audit.md); creates it first if `creates` is true. Its
 * `kid` is made of its public part, so a new key has a new name.
 *
 * @throws SigningKeyError when the file is readable by others or holds no valid key
 * @throws PublicKeyError when the list of public keys is invalid
 */
export function readFiledKey(folder: string, creates: boolean): FiledKey {
  const path = join(folder, keyFileName);
  const listed = textOf(join(folder, publicFileName));
  const known = listed === null ? [] : readPublicKeys(listed).keys;
  const text = textOf(path) ?? (creates ? makeKey(folder, path) : null);
  if (text === null) return { key: null, known };
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new SigningKeyError(`${path} can be read by others; take that away with chmod 600`);
  }
  const key = signingKey(parseSigningKey(text, path));
  if (creates && !known.some(({ kid }) => kid === key.publicKey.kid)) {
    const { keys } = publicKeySet([...known, key.publicKey]);
    replaceFile(join(folder, publicFileName), `${JSON.stringify({ keys }, null, 2)}\n`);
  }
  return { key, known };
}

function signingKey(privateKey: KeyObject): SigningKey {
  const x = String(createPublicKey(privateKey).export({ format: 'jwk' }).x);
  const kid = `audit-${hash('sha256', x, 'hex').slice(0, 16)}`;
  return { signer: lineSigner(kid, privateKey), publicKey: publicKey(kid, x) };
}

/** A crash leaves either the old list or the new one. */
function replaceFile(path: string, content: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}

/** Another process may create the file at the same time; its key counts. */
function makeKey(folder: string, path: string): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, pem, { mode: 0o600, flag: 'wx' });
    return pem;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return readFileSync(path, 'utf8');
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw new SigningKeyError(`${path} cannot be read (${codeOf(error)})`);
  }
}
