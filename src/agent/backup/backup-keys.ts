import { join } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import {
  type LineSigner,
  openAuditKeys,
  type PublicKeySet,
  SigningKeyError,
} from '../../actors/records/records.ts';
import { agentEnvironment } from '../start/agent-environment.ts';
import { isAssumed, lenientEnvironment } from '../start/lenient-environment.ts';

/** The keys of an agent for its backups, which are those of its log. */
export interface BackupKeys {
  /** `null` if backups cannot be signed. */
  signer: LineSigner | null;
  /** Why backups cannot be signed; `null` if they can. */
  unsigned: string | null;
  /** Public keys of the agent: the present ones, and all that its folder lists. */
  trusted: PublicKeySet;
}

/**
 * Reads the keys of an agent without making any. A missing signing key is no error, since a backup without a signature
 * is better than none. Throws SigningKeyError for a key file that others can read, and PublicKeyError.
 *
 * @param passphrase of the encrypted secrets; `null` skips them
 */
export async function backupKeys(
  directory: string,
  { audit }: ServiceConfig,
  { env, passphrase }: { env: NodeJS.ProcessEnv; passphrase: string | null },
): Promise<BackupKeys> {
  const folder = join(directory, '.service');
  const variables =
    passphrase === null
      ? await lenientEnvironment(directory, env)
      : (await agentEnvironment(directory, { env, passphrase })).env;
  const listed = openAuditKeys(
    { sign: true, signing: { ...audit.signing, enabled: false } },
    { env: variables, folder },
  ).published;
  if (!audit.sign && !audit.signing.enabled) {
    return { signer: null, unsigned: 'audit.sign is off', trusted: listed };
  }
  try {
    const { signer, published } = openAuditKeys(audit, { env: variables, folder });
    const unsigned = signer === null ? 'the agent makes its key at the next start' : null;
    return { signer, unsigned, trusted: { keys: [...listed.keys, ...published.keys] } };
  } catch (error) {
    if (!(error instanceof SigningKeyError)) throw error;
    const { key_env: name } = audit.signing;
    const unsigned = isAssumed(variables[name])
      ? `${name} is in the encrypted secrets, whose passphrase is missing`
      : error.message;
    return { signer: null, unsigned, trusted: listed };
  }
}
