import { commandLine } from '../../actors/command-line.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainText } from '../plain-text.ts';

/**
 * Builds the error for a folder without a running agent, including how the last agent ended if it was not stopped on
 * request.
 */
export function notRunning(directory: string, error: string | null): CliError {
  return new CliError(`no agent runs in ${directory}`, {
    code: 'not_running',
    exitCode: exitCodes.notFound,
    hint: `start it with: ${commandLine(`serve start --dir ${shellWord(directory)}`)}`,
    lines: error === null ? [] : ['the last one ended with:', ...plainText(error).split('\n')],
    details: error === null ? { status: 'stopped' } : { status: 'errored', last_error: error },
  });
}
