import { readFileSync } from 'node:fs';
import { codeOf } from '../../../machines/error-code.ts';
import { readFiledKey } from './filed-key.ts';
import type { LineSigner } from './line-signer.ts';
import { PublicKeyError, type PublicKeySet, publicKeySet, readPublicKeys } from './public-keys.ts';
import { readSigningKey, type SigningKey } from './signing-key.ts';

/** Variable for older public keys that are published with the current one: a JWKS, or the path of one. */
const publishedVariable = 'SERVICE_AUDIT_VERIFY_KEYS';

/** `audit.signing` of the configuration. */
export interface SigningSettings {
  enabled: boolean;
  key_env: string;
  kid: string;
}

/** `audit` of the configuration, as far as it is about signatures. */
export interface AuditKeySettings {
  /** True takes the key from the state folder, unless `signing` is enabled. */
  sign: boolean;
  signing: SigningSettings;
}

/** Where the keys of an agent are. */
export interface AuditKeySource {
  env: Environment;
  /** State folder of the agent; `null` skips its key. */
  folder: string | null;
  /** True creates a missing key in that folder. */
  creates?: boolean;
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
export function openAuditKeys(
  { sign, signing }: AuditKeySettings,
  { env, folder, creates = false }: AuditKeySource,
): AuditKeys {
  const filed = sign && folder !== null ? readFiledKey(folder, creates) : noKey;
  const older = publicKeySet([...olderKeys(env).keys, ...filed.known]);
  const key: SigningKey | null = signing.enabled ? readSigningKey(env, signing) : filed.key;
  if (key === null) return { signer: null, published: older };
  const { signer, publicKey } = key;
  if (older.keys.some(({ kid, x }) => kid === publicKey.kid && x !== publicKey.x)) {
    throw new PublicKeyError(
      `${publishedVariable} holds another key with the kid ${JSON.stringify(publicKey.kid)}; give the new key a new kid`,
    );
  }
  return { signer, published: publicKeySet([publicKey, ...older.keys]) };
}

const noKey = { key: null, known: [] } as const;

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
