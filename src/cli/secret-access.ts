import { agentEnvironment, needsPassphrase } from '../agent/start/agent-environment.ts';
import { askHidden } from './ask-hidden.ts';
import { CliError, exitCodes } from './cli-error.ts';
import type { Session } from './session.ts';

type Asking = Pick<Session, 'env' | 'stdin' | 'input' | 'output' | 'passphrase'>;

/**
 * Returns the passphrase of an agent that needs one: from the environment, from stdin with --passphrase-stdin, or from
 * a prompt. `null` if no passphrase is given or needed.
 */
export async function passphraseFor(session: Asking, directory: string): Promise<string | null> {
  const given = await givenPassphrase(session);
  if (given !== null || !needsPassphrase(directory, session.env)) return given;
  return askHidden(session, 'Passphrase of the secrets');
}

/**
 * Returns the passphrase for a start in the background, and leaves stdin. Throws CliError if the agent needs one and none
 * is given.
 */
export async function passphraseToStart(
  session: Asking,
  directory: string,
): Promise<string | null> {
  const passphrase = await passphraseFor(session, directory);
  session.input.leave();
  if (passphrase !== null || !needsPassphrase(directory, session.env)) return passphrase;
  throw new CliError('the secrets of the agent need their passphrase', {
    code: 'passphrase_missing',
    exitCode: exitCodes.authentication,
    hint: 'give it with --passphrase-stdin or SERVICE_PASSPHRASE',
  });
}

/** Returns the passphrase given with the command; `null` if there is none. Throws CliError for an empty line. */
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

/** Returns the variables used to read an agent's files. Rejects with SecretsError. */
export async function environmentOf(
  session: Asking,
  directory: string,
): Promise<NodeJS.ProcessEnv> {
  const passphrase = await passphraseFor(session, directory);
  const { env, warnings } = await agentEnvironment(directory, { env: session.env, passphrase });
  for (const warning of warnings) session.output.warn(warning);
  return env;
}
