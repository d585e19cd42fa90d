import type { Interruption } from './interruption.ts';
import type { Output } from './output.ts';

/** The surroundings of every command. */
export interface Session {
  output: Output;
  interruption: Interruption;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
}
