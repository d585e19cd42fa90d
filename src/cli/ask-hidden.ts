import { CliError, exitCodes } from './cli-error.ts';
import type { Session } from './session.ts';

/**
 * Asks for a text at the terminal and shows nothing of what is typed; `null` where nobody can be asked. Throws a
 * CliError when it is left with Ctrl-C or Escape.
 */
export async function askHidden(
  { stdin, output }: Pick<Session, 'stdin' | 'output'>,
  message: string,
): Promise<string | null> {
  if (stdin.isTTY !== true || output.stderr.isTTY !== true) return null;
  const { password, isCancel } = await import('@clack/prompts');
  const answer = await password({
    ...{ message, mask: '', input: stdin, output: output.stderr },
    validate: (text) => (text ? undefined : 'Nothing was typed.'),
  });
  if (!isCancel(answer)) return answer;
  throw new CliError('interrupted', { code: 'interrupted', exitCode: exitCodes.interrupted });
}
