import { dirname, join } from 'node:path';
import { hasSecretFile, SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment, secretPath } from '../../agent/start/agent-environment.ts';
import { plainLine } from '../plain-text.ts';
import { passphraseFor } from '../secret-access.ts';
import type { Session } from '../session.ts';
import type { Finding, Subject } from './check.ts';

/**
 * Checks that the agent's secrets can be decrypted. Returns all variables including the secrets, and the variables
 * stored in the agent's folder. Returns only the environment if the secrets cannot be decrypted.
 */
export async function checkSecrets(
  session: Session,
  directory: string,
): Promise<Pick<Subject, 'env' | 'own'> & { finding: Finding }> {
  const { env: given } = session;
  const passphrase = await passphraseFor(session, directory);
  try {
    const { env, warnings } = await agentEnvironment(directory, { env: given, passphrase });
    const { env: own } = await agentEnvironment(directory, { env: {}, passphrase });
    const [warning] = warnings;
    if (warning !== undefined)
      return { env, own, finding: { status: 'warn', message: plainLine(warning) } };
    const hasFile = hasSecretFile(secretPath(directory, given));
    const message = hasFile
      ? 'the encrypted secrets can be opened'
      : 'there are no encrypted secrets';
    return { env, own, finding: { status: 'pass', message } };
  } catch (error) {
    if (!(error instanceof SecretsError)) throw error;
    const status = error.code === 'passphrase_missing' ? 'warn' : 'fail';
    return { env: given, own: {}, finding: { status, message: plainLine(error.message) } };
  }
}

/** Lists the files that may hold an agent's secrets. The files may not exist. */
export function secretFiles(directory: string, env: NodeJS.ProcessEnv): string[] {
  const path = secretPath(directory, env);
  return [path, join(dirname(path), '.env')];
}
