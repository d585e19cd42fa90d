import { nameCommand } from './actors/command-line.ts';
import { type CliError, explain } from './cli/cli-error.ts';
import { Interruption, ReaderGone } from './cli/interruption.ts';
import { Output } from './cli/output.ts';
import { takePassphrase } from './cli/passphrase.ts';
import { runCommandLine } from './cli/program.ts';
import { readFlags } from './cli/read-flags.ts';
import { hearSignals } from './cli/signals.ts';
import { StdinText } from './cli/stdin-text.ts';

const argv = process.argv.slice(2);
const { stdout, stderr, stdin, env } = process;
nameCommand(env['SERVICE_COMMAND']);
// It is about this call alone: no process that is started here was called so.
delete env['SERVICE_COMMAND'];
const flags = readFlags(argv);
const output = new Output({ stdout, stderr, env, ...flags });

const interruption = new Interruption((reason: CliError) => {
  output.failure(reason);
  process.exit(reason.exitCode);
});
hearSignals(interruption);

/** What a write says when its reader has gone: a pipe, a stream, or a terminal that hung up. */
const readerGone = new Set<string | undefined>(['EPIPE', 'ERR_STREAM_DESTROYED', 'EIO']);

for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!readerGone.has(error.code)) throw error;
    if (stream === stdout) interruption.readerGone();
  });
}

try {
  const passphrase = { value: takePassphrase(env), fromStdin: flags.isPassphraseOnStdin };
  const input = new StdinText(stdin);
  const session = { output, interruption, env, stdin, input, passphrase };
  process.exitCode = await runCommandLine(argv, session);
} catch (error) {
  if (!(error instanceof ReaderGone)) {
    const failure = explain(error);
    output.failure(failure);
    process.exitCode = failure.exitCode;
  }
}
