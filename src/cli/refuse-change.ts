import { commandLine } from '../actors/command-line.ts';
import { AddSkillError, ConfigFileError } from '../actors/workspace/workspace.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { plainLine } from './plain-text.ts';

/** Throws a CliError for a rejected change of an agent's files; rethrows any other error. */
export function refuseChange(error: unknown): never {
  if (error instanceof AddSkillError) {
    throw new CliError(plainLine(error.message), { code: error.code, cause: error });
  }
  if (!(error instanceof ConfigFileError)) throw error;
  throw new CliError(plainLine(error.message), {
    code: 'config_invalid',
    exitCode: exitCodes.invalid,
    hint: `check it with \`${commandLine('validate')}\``,
    cause: error,
  });
}
