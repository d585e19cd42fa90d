import { formatProblem, type Problem } from '../actors/config/config.ts';
import { CliError, exitCodes } from './cli-error.ts';

/** Says that an agent's configuration cannot be used, with every problem where it stands. */
export function configFailure(
  problems: readonly Problem[],
  warnings: readonly Problem[] = [],
): CliError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  return new CliError(`${count} in the agent's files`, {
    code: 'config_invalid',
    exitCode: exitCodes.invalid,
    hint: 'mend what is listed and try again',
    lines: problems.map(formatProblem),
    details: { valid: false, problems: problems.map(asJson), warnings: warnings.map(asJson) },
  });
}

/** A problem as it stands in a JSON document. */
export function asJson({ file, line, column, path, message }: Problem) {
  return { file, line, column, path, message };
}
