import { commandLine } from '../../actors/command-line.ts';
import { hasSecretFile } from '../../actors/secrets/secrets.ts';
import { secretPath } from '../../agent/start/agent-environment.ts';
import { agentDirectory } from '../agent-directory.ts';
import { askHidden } from '../ask-hidden.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import { givenPassphrase } from '../secret-access.ts';
import type { Session } from '../session.ts';

export interface SecretOptions {
  dir: string;
  /** If true, uses the `.env` instead of the encrypted file. */
  plain?: boolean;
}

/**
 * Returns the encrypted file that a command addresses. Throws CliError with exit code 3 if the folder does not exist.
 */
export function secretFileOf({ env }: Session, { dir }: SecretOptions): string {
  return secretPath(agentDirectory(dir), env);
}

/**
 * Returns the passphrase of an encrypted file. For a new file, prompts twice for the new passphrase. Throws CliError
 * with exit code 4 if no passphrase is given.
 */
export async function passphraseOf(session: Session, path: string): Promise<string> {
  const passphrase = (await givenPassphrase(session)) ?? (await ask(session, path));
  if (passphrase !== null) return passphrase;
  throw new CliError('no passphrase was given', {
    code: 'passphrase_missing',
    exitCode: exitCodes.authentication,
    hint: 'set SERVICE_PASSPHRASE, or make it the first line of stdin with --passphrase-stdin',
  });
}

async function ask(session: Session, path: string): Promise<string | null> {
  if (hasSecretFile(path)) return askHidden(session, 'Passphrase of the secrets');
  const chosen = await askHidden(session, 'New passphrase for the secrets of this agent');
  if (chosen === null || chosen === (await askHidden(session, 'Confirm passphrase'))) return chosen;
  throw new CliError('the two passphrases are not the same', {
    code: 'passphrase_missing',
    exitCode: exitCodes.authentication,
    hint: 'try again; nothing was written',
  });
}

/** Builds the error for a missing secret; `hint` names another place that has it. */
export function unknownSecret(
  name: string,
  hint: string = `see those there are with ${commandLine('secret list')}`,
): CliError {
  return new CliError(plainLine(`there is no secret ${name}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: plainLine(hint),
  });
}
