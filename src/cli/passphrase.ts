import { closeSync, readFileSync } from 'node:fs';
import { CliError, exitCodes } from './cli-error.ts';

/**
 * Removes the passphrase of the secrets from an environment, so child processes do not inherit it; `null` if there is
 * none. `bin/holdpoint` passes the passphrase through a pipe, because other processes of this user can read a process's
 * initial environment for its whole lifetime (docs/contract/secrets.md).
 */
export function takePassphrase(env: NodeJS.ProcessEnv): string | null {
  const { SERVICE_PASSPHRASE: given, SERVICE_PASSPHRASE_FD: pipe } = env;
  delete env['SERVICE_PASSPHRASE'];
  delete env['SERVICE_PASSPHRASE_FD'];
  const found = given ?? (pipe === undefined ? '' : readPipe(pipe));
  return found === '' ? null : found;
}

function readPipe(pipe: string): string {
  try {
    const descriptor = Number(pipe);
    const text = readFileSync(descriptor, 'utf8');
    closeSync(descriptor);
    return text.replace(/\n$/, '');
  } catch (error) {
    throw new CliError('the passphrase cannot be read from SERVICE_PASSPHRASE_FD', {
      code: 'passphrase_missing',
      exitCode: exitCodes.authentication,
      hint: 'unset SERVICE_PASSPHRASE_FD, and set SERVICE_PASSPHRASE',
      cause: error,
    });
  }
}
