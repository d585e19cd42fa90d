import { type CliError, explain } from './cli/cli-error.ts';
import { Interruption, ReaderGone } from './cli/interruption.ts';
import { Output } from './cli/output.ts';
import { runCommandLine } from './cli/program.ts';
import { readFlags } from './cli/read-flags.ts';

const argv = process.argv.slice(2);
const { stdout, stderr, stdin, env } = process;
const output = new Output({ stdout, stderr, env, ...readFlags(argv) });

const interruption = new Interruption((reason: CliError) => {
  output.failure(reason);
  process.exit(reason.exitCode);
});
process.on('SIGINT', () => interruption.interrupt());
process.on('SIGTERM', () => interruption.interrupt());

for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
    if (stream === stdout) interruption.readerGone();
  });
}

try {
  process.exitCode = await runCommandLine(argv, { output, interruption, env, stdin });
} catch (error) {
  if (!(error instanceof ReaderGone)) {
    const failure = explain(error);
    output.failure(failure);
    process.exitCode = failure.exitCode;
  }
}
