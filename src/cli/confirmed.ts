import { confirm } from '@clack/prompts';
import { CliError, exitCodes } from './cli-error.ts';
import { plainLine } from './plain-text.ts';
import type { Session } from './session.ts';

/** Asks for a confirmation at the terminal. Throws CliError for a refusal, and without a terminal that could be asked. */
export async function confirmed({ stdin, output }: Session, question: string): Promise<void> {
  const isTerminal = stdin.isTTY === true && output.stderr.isTTY === true;
  const message = plainLine(question);
  const answer = isTerminal
    ? await confirm({ input: stdin, output: output.stderr, message })
    : null;
  if (answer === true) return;
  throw new CliError(answer === null ? 'the change needs a confirmation' : 'nothing was changed', {
    code: 'not_confirmed',
    exitCode: answer === null ? exitCodes.usage : exitCodes.failed,
    hint: 'add --yes to confirm it',
  });
}
