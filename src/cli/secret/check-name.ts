import { refusedSecretName } from '../../actors/secrets/secrets.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/**
 * Throws CliError for an invalid secret name. The message does not repeat the name, which may be a secret value typed
 * by mistake.
 */
export function checkName(name: string): void {
  const refusal = refusedSecretName(name);
  if (refusal === null) return;
  throw new CliError(refusal, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'the value is not an argument: it comes from stdin or a prompt',
  });
}
