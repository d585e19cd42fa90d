import { nameCommand } from '../../actors/command-line.ts';

const { argv, stdin, stdout, stderr, env } = process;
// Hosts run the call of a hook that ends with any other code, also of one that ends without an answer.
process.exitCode = 2;
process.on('uncaughtException', () => {
  stderr.write('Holdpoint blocked the call: the hook failed\n');
  process.exit(2);
});
nameCommand(env['SERVICE_COMMAND']);
void import('./hook.ts').then(async ({ hook }) => {
  const answer = await hook(argv.slice(3), { stdin, env });
  stderr.write(answer.stderr);
  stdout.write(answer.stdout, () => process.exit(answer.exitCode));
});
