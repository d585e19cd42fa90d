import { agentEnvironment, needsPassphrase } from '../agent/agent-environment.ts';
import { askHidden } from './ask-hidden.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Session } from './session.ts';

type Asking = Pick<Session, 'env' | 'stdin' | 'input' | 'output' | 'passphrase'>;

/**
 * Finds the passphrase of an agent that needs one: in what the command was started with, on stdin with
 * --passphrase-stdin, else at the terminal; `null` where nobody gives it or none is needed.
 */
export async function passphraseFor(session: Asking, directory: string): Promise<string | null> {
  const given = await givenPassphrase(session);
  if (given !== null || !needsPassphrase(directory, session.env)) return given;
  return askHidden(session, 'Passphrase of the secrets');
}

/** Answers the passphrase that came with the command; `null` when none did. Throws a CliError for an empty line. */
export async function givenPassphrase({ passphrase, input }: Asking): Promise<string | null> {
  if (passphrase.fromStdin !== true || passphrase.value !== null) return passphrase.value;
  const line = await input.line();
  if (line === null || line === '') {
    throw new CliError('stdin holds no passphrase', {
      code: 'passphrase_missing',
      exitCode: exitCodes.authentication,
      hint: 'with --passphrase-stdin its first line is the passphrase',
    });
  }
  passphrase.value = line;
  return line;
}

/** Answers the variables that an agent's files are read with. Rejects with a SecretsError. */
export async function environmentOf(
  session: Asking,
  directory: string,
): Promise<NodeJS.ProcessEnv> {
  const passphrase = await passphraseFor(session, directory);
  const { env, warnings } = await agentEnvironment(directory, { env: session.env, passphrase });
  for (const warning of warnings) session.output.warn(warning);
  return env;
}
