import { nameCommand } from './actors/command-line.ts';
import { main } from './cli/main.ts';
import { hearSignals } from './cli/signals.ts';

const { stdin, stdout, stderr, env } = process;
nameCommand(env['SERVICE_COMMAND']);
// It is about this call alone: no process that is started here was called so.
delete env['SERVICE_COMMAND'];

process.exitCode = await main(process.argv.slice(2), {
  ...{ stdin, stdout, stderr, env },
  hear: (interruption) => hearSignals(interruption),
  exit: (code) => process.exit(code),
});
