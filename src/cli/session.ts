import type { Interruption } from './interruption.ts';
import type { Output } from './output.ts';
import type { StdinText } from './stdin-text.ts';

export interface Session {
  output: Output;
  interruption: Interruption;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  /** Stdin, read as text. */
  input: StdinText;
  /** The passphrase of the secrets. `fromStdin` is true if the first line of stdin is the passphrase. */
  passphrase: { value: string | null; fromStdin: boolean };
}
