import type { Interruption } from './interruption.ts';
import type { Output } from './output.ts';

/** What every command is given. */
export interface Session {
  output: Output;
  interruption: Interruption;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
}
