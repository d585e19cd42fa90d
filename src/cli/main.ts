import { type CliError, type ExitCode, exitCodes, explain } from './cli-error.ts';
import { Interruption, ReaderGone } from './interruption.ts';
import { Output, type TerminalStream } from './output.ts';
import { takePassphrase } from './passphrase.ts';
import { runCommandLine } from './program.ts';
import { StdinText } from './stdin-text.ts';

/** The process environment of a command line: streams, environment variables and exit. */
export interface Surroundings {
  stdin: NodeJS.ReadStream;
  stdout: TerminalStream;
  stderr: TerminalStream;
  env: NodeJS.ProcessEnv;
  /** Starts forwarding signals to the interruption. */
  hear: (interruption: Interruption) => void;
  /** Exits immediately. */
  exit: (code: ExitCode) => never;
}

/** Error codes of writes without a reader: a closed pipe, a destroyed stream, or a terminal that hung up. */
const readerGone = new Set<string | undefined>(['EPIPE', 'ERR_STREAM_DESTROYED', 'EIO']);

/** Runs a command line, prints its error if it fails, and returns its exit code. */
export async function main(argv: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  const { stdin, stdout, stderr, env, hear, exit } = surroundings;
  const flags = readFlags(argv);
  const output = new Output({ stdout, stderr, env, ...flags });
  const interruption = new Interruption((reason: CliError) => {
    output.failure(reason);
    return exit(reason.exitCode);
  });
  hear(interruption);
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!readerGone.has(error.code)) throw error;
      if (stream === stdout) interruption.readerGone();
    });
  }
  try {
    const passphrase = { value: takePassphrase(env), fromStdin: flags.isPassphraseOnStdin };
    const input = new StdinText(stdin);
    return await runCommandLine(argv, { output, interruption, env, stdin, input, passphrase });
  } catch (error) {
    if (error instanceof ReaderGone) return exitCodes.done;
    const failure = explain(error);
    output.failure(failure);
    return failure.exitCode;
  }
}

/** The flags that control output, including the output of errors about other arguments. */
interface Flags {
  isJson: boolean;
  isDebug: boolean;
  mayColour: boolean;
  /** True if the first line of stdin is the passphrase of the secrets. */
  isPassphraseOnStdin: boolean;
}

/** Reads the global flags at any position before a `--`. */
function readFlags(argv: readonly string[]): Flags {
  const end = argv.indexOf('--');
  const given = new Set(end === -1 ? argv : argv.slice(0, end));
  return {
    isJson: given.has('--json'),
    isDebug: given.has('--debug'),
    mayColour: !given.has('--no-color'),
    isPassphraseOnStdin: given.has('--passphrase-stdin'),
  };
}
