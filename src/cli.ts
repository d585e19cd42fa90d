import { nameCommand } from './actors/command-line.ts';

const { stdin, stdout, stderr, env } = process;
const argv = process.argv.slice(2);
nameCommand(env['SERVICE_COMMAND']);
// The variable describes this invocation only; child processes must not inherit it.
delete env['SERVICE_COMMAND'];

// A hook starts for every call of a coding agent, so it loads none of the other commands.
const isHelp = argv.includes('--help') || argv.includes('-h');
if (argv[0] === 'hook' && !isHelp) {
  // Hosts run the call of a hook that ends with any other code, also of one that ends without an answer.
  process.exitCode = 2;
  process.on('uncaughtException', () => {
    stderr.write('Holdpoint blocked the call: the hook failed\n');
    process.exit(2);
  });
  const { hook } = await import('./cli/hook/hook.ts');
  const answer = await hook(argv.slice(1), { stdin, env });
  stderr.write(answer.stderr);
  stdout.write(answer.stdout, () => process.exit(answer.exitCode));
} else {
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
