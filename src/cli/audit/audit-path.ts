import { resolve } from 'node:path';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment } from '../../agent/start/agent-environment.ts';
import { chooseFolder } from '../choose-agent.ts';
import { givenPassphrase } from '../secret-access.ts';
import type { Session } from '../session.ts';

/** Returns the folder of the log to read: from --dir, else the agent in the current folder, else the running agent. */
export function auditFolderOf(
  dir: string | undefined,
  { env, output }: Pick<Session, 'env' | 'output'>,
): string {
  return resolve(chooseFolder(dir, env, (line) => output.note(line)).dir);
}

/**
 * Returns the variables that locate an agent's log, without prompting for a passphrase. The log is readable without
 * secrets, so errors in the secrets are ignored.
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
