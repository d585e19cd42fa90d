import { refusedSecretName } from '../../actors/secrets/secrets.ts';
import { CliError, exitCodes } from '../cli-error.ts';

/** Throws a CliError for a name that no secret can have, without repeating it: it may be a value. */
export function checkName(name: string): void {
  const refusal = refusedSecretName(name);
  if (refusal === null) return;
  throw new CliError(refusal, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'the value is not given here: it comes from stdin, or is asked for',
  });
}
