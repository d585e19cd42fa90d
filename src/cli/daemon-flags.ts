import type { Command } from 'commander';
import { portValue } from './option-values.ts';
import { addRateLimitFlags, type RateLimitFlags } from './rate-limit-flags.ts';

/** What a command line says of a daemon, in the foreground or in the background. */
export interface DaemonFlags extends RateLimitFlags {
  dir: string;
  host: string;
  port?: number;
  auth: boolean;
  keepLog?: boolean;
}

/** Gives a command the flags of a daemon (contract section 2). */
export function addDaemonFlags(command: Command): Command {
  command
    .option('--dir <dir>', "the agent's folder", '.')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option(
      '--port <port>',
      'port to listen on (default: 8080 or one of the ten after it)',
      portValue,
    )
    .option('--no-auth', 'let anybody on this machine in')
    .option(
      '--keep-log',
      'go on with a task store that is older than its audit log: keep the log, and end the tasks it names',
    );
  return addRateLimitFlags(command);
}
