import { dirname, join } from 'node:path';
import { hasSecretFile, SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment, secretPath } from '../../agent/agent-environment.ts';
import { plainLine } from '../plain-text.ts';
import { passphraseFor } from '../secret-access.ts';
import type { Session } from '../session.ts';
import type { Finding, Subject } from './check.ts';

/**
 * Checks that the agent's secrets can be opened, and answers the variables with them in it, and those that its folder
 * keeps; the environment alone where they cannot be opened.
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

/** Names the files of an agent that hold secrets, whether or not they are there. */
export function secretFiles(directory: string, env: NodeJS.ProcessEnv): string[] {
  const path = secretPath(directory, env);
  return [path, join(dirname(path), '.env')];
}
