import { nameCommand } from './actors/command-line.ts';
import { main } from './cli/main.ts';
import { hearSignals } from './cli/signals.ts';

const { stdin, stdout, stderr, env } = process;
nameCommand(env['SERVICE_COMMAND']);
// The variable describes this invocation only; child processes must not inherit it.
delete env['SERVICE_COMMAND'];

process.exitCode = await main(process.argv.slice(2), {
  ...{ stdin, stdout, stderr, env },
  hear: (interruption) => hearSignals(interruption),
  exit: (code) => process.exit(code),
});
