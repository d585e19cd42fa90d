import { PassThrough, Writable } from 'node:stream';
import { main } from '../../src/cli/main.ts';
// They bring what listens to the end of the process, which is there before the first test then.
import '../../src/cli/policy/policy-explain.ts';
import '../../src/cli/validate.ts';
import { type CommandOptions, cleanEnvironment, type Ended } from './holdpoint.ts';

/**
 * Runs a command line to its end in this process, as the program does in its own, without the second that a start
 * costs. Paths in `args` are absolute.
 */
export async function holdpointHere(
  args: readonly string[],
  { input, env = {} }: Pick<CommandOptions, 'input' | 'env'> = {},
): Promise<Ended> {
  const [stdout, stderr] = [new Kept(), new Kept()];
  const stdin = new PassThrough();
  if (input !== undefined) stdin.end(input);
  const code = await main(args, {
    stdin: stdin as unknown as NodeJS.ReadStream,
    ...{ stdout, stderr, env: { ...cleanEnvironment(), ...env } },
    hear: () => undefined,
    exit: (code) => {
      throw new Error(`the command left with ${code}`);
    },
  });
  return { code, signal: null, stdout: stdout.text, stderr: stderr.text };
}

/** A stream that keeps what is written. */
class Kept extends Writable {
  text = '';

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
