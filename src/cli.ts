import { nameCommand } from './actors/command-line.ts';

const { stdin, stdout, stderr, env } = process;
const argv = process.argv.slice(2);
const isHelp = argv.includes('--help') || argv.includes('-h');
if (argv[0] === 'hook' && !isHelp) {
  // A hook starts for every call of a coding agent, so it loads none of the other commands.
  await import('./cli/hook/main.ts');
} else {
  nameCommand(env['SERVICE_COMMAND']);
  // The variable describes this invocation only; child processes must not inherit it.
  delete env['SERVICE_COMMAND'];
  const [{ main }, { hearSignals }] = await Promise.all([
    import('./cli/main.ts'),
    import('./cli/signals.ts'),
  ]);
  process.exitCode = await main(argv, {
    ...{ stdin, stdout, stderr, env },
    hear: (interruption) => hearSignals(interruption),
    exit: (code) => process.exit(code),
  });
}
