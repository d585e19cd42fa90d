import { resolve } from 'node:path';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment } from '../../agent/agent-environment.ts';
import { chooseFolder } from '../choose-agent.ts';
import { givenPassphrase } from '../secret-access.ts';
import type { Session } from '../session.ts';

/** The folder whose log is meant: that of --dir, else that of the agent here, else that of the one that runs. */
export function auditFolderOf(
  dir: string | undefined,
  { env, output }: Pick<Session, 'env' | 'output'>,
): string {
  return resolve(chooseFolder(dir, env, (line) => output.note(line)).dir);
}

/**
 * Answers the variables that an agent's log is found with, without a question for a passphrase. A log can be read
 * without the secrets, so nothing that is wrong with them keeps anybody from it.
 */
export async function withGivenSecrets(
  session: Session,
  directory: string,
): Promise<NodeJS.ProcessEnv> {
  const { env } = session;
  const passphrase = await givenPassphrase(session);
  try {
    return (await agentEnvironment(directory, { env, passphrase })).env;
  } catch (error) {
    if (error instanceof SecretsError) return env;
    throw error;
  }
}
