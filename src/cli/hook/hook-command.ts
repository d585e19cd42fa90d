import { Argument, Command } from 'commander';
import { dialects } from '../../http/hooks/dialects.ts';
import { usualWait } from './hook.ts';

/** Describes `hook DIALECT` for help and completion; `src/cli.ts` runs it without this program. */
export function hookCommand(): Command {
  return new Command('hook')
    .description(
      'decide on the event of a coding agent on stdin, as its hook; blocks without a gate',
    )
    .addArgument(new Argument('<dialect>', 'the coding agent').choices([...dialects.keys()]))
    .option(
      '--dir <dir>',
      'the folder of the gate (default: $SERVICE_GATE_DIR, then ~/.holdpoint/guard)',
    )
    .option('--url <url>', 'the address of the gate, instead of --dir (default: $SERVICE_GATE_URL)')
    .option(
      '--token-file <file>',
      "a file with the token (default: the gate's own, or $SERVICE_TOKEN with --url)",
    )
    .option('--wait <duration>', 'block an undecided call after this long', usualWait);
}
