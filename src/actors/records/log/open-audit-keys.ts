import { readFileSync } from 'node:fs';
import { codeOf } from '../../../machines/error-code.ts';
import type { LineSigner } from './line-signer.ts';
import { PublicKeyError, type PublicKeySet, publicKeySet, readPublicKeys } from './public-keys.ts';
import { readSigningKey } from './signing-key.ts';

/** Variable for older public keys that are published with the current one: a JWKS, or the path of one. */
const publishedVariable = 'SERVICE_AUDIT_VERIFY_KEYS';

/** `audit.signing` of the configuration. */
export interface SigningSettings {
  enabled: boolean;
  key_env: string;
  kid: string;
}

/** Signer of a log, and its published public keys. */
export interface AuditKeys {
  /** `null` if signing is off. */
  signer: LineSigner | null;
  published: PublicKeySet;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the signing key and the older public keys to publish with it (docs/contract/audit.md).
 *
 * @throws SigningKeyError when signing is on and its variable holds no valid key
 * @throws PublicKeyError when the older keys are invalid, or one has the `kid` of another key
 */
export function openAuditKeys(settings: SigningSettings, env: Environment): AuditKeys {
  const older = olderKeys(env);
  if (!settings.enabled) return { signer: null, published: older };
  const { signer, publicKey } = readSigningKey(env, settings);
  if (older.keys.some(({ kid, x }) => kid === publicKey.kid && x !== publicKey.x)) {
    throw new PublicKeyError(
      `${publishedVariable} holds another key with the kid ${JSON.stringify(publicKey.kid)}; give the new key a new kid`,
    );
  }
  return { signer, published: publicKeySet([publicKey, ...older.keys]) };
}

function olderKeys(env: Environment): PublicKeySet {
  const value = env[publishedVariable]?.trim() ?? '';
  if (value === '') return { keys: [] };
  const text = value.startsWith('{') ? value : readKeyFile(value);
  try {
    return readPublicKeys(text);
  } catch (error) {
    if (!(error instanceof PublicKeyError)) throw error;
    throw new PublicKeyError(`${publishedVariable} cannot be used: ${error.message}`);
  }
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new PublicKeyError(
      `the file that ${publishedVariable} names cannot be read (${codeOf(error)}); it must hold a JWKS`,
    );
  }
}
