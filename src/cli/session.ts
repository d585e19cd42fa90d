import type { Interruption } from './interruption.ts';
import type { Output } from './output.ts';
import type { StdinText } from './stdin-text.ts';

/** What every command is given. */
export interface Session {
  output: Output;
  interruption: Interruption;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  /** What comes in on stdin, read as text. */
  input: StdinText;
  /** The passphrase of the secrets, and whether its first line of stdin is to be it. */
  passphrase: { value: string | null; fromStdin: boolean };
}
