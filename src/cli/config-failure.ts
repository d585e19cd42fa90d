import { type ConfigProblem, formatProblem } from '../actors/config/config.ts';
import { CliError, exitCodes } from './cli-error.ts';

/** Builds the error for an invalid configuration, with the location of every problem. */
export function configFailure(
  problems: readonly ConfigProblem[],
  warnings: readonly ConfigProblem[] = [],
): CliError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new CliError(`${count} in the agent's files`, {
    code: 'config_invalid',
    exitCode: exitCodes.invalid,
    hint: 'fix what is listed and try again',
    lines: problems.map(formatProblem),
    details: { valid: false, problems: problems.map(asJson), warnings: warnings.map(asJson) },
  });
}

/** Formats a problem for a JSON document. */
export function asJson({ file, line, column, path, message }: ConfigProblem) {
  return { file, line, column, path, message };
}
