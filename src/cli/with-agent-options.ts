import type { Command } from 'commander';
import { durationValue } from './option-values.ts';

/** Adds the options that select a running agent. */
export function withAgentOptions(command: Command): Command {
  return command
    .option('--dir <dir>', 'the folder of an agent (default: this one, then the one that runs)')
    .option('--url <url>', 'the address of an agent, instead of --dir')
    .option(
      '--token-file <file>',
      "a file with the token (default: $SERVICE_TOKEN, then the agent's own)",
    )
    .option('--timeout <duration>', 'timeout, such as 90s; exit 7', durationValue);
}
