import { CliError, exitCodes } from './cli-error.ts';
import type { Session } from './session.ts';

/**
 * Prompts for text on the terminal without echo; `null` if there is no terminal. Throws CliError if the user presses
 * Ctrl-C or Escape.
 */
export async function askHidden(
  { stdin, output }: Pick<Session, 'stdin' | 'output'>,
  message: string,
): Promise<string | null> {
  if (stdin.isTTY !== true || output.stderr.isTTY !== true) return null;
  const { password, isCancel } = await import('@clack/prompts');
  const answer = await password({
    ...{ message, mask: '', input: stdin, output: output.stderr },
    validate: (text) => (text ? undefined : 'No input.'),
  });
  if (!isCancel(answer)) return answer;
  throw new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}
