import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError, exitCodes } from './cli-error.ts';
import { plainLine } from './plain-text.ts';

/**
 * Returns the absolute path of the folder given by `--dir`. Throws CliError with exit code 3 if the folder does not
 * exist.
 */
export function agentDirectory(dir: string): string {
  const directory = resolve(dir);
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return directory;
  throw new CliError(plainLine(`there is no folder ${directory}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: 'name the folder of an agent with --dir',
  });
}
