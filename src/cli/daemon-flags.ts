import type { Command } from 'commander';
import { portValue } from './option-values.ts';
import { addRateLimitFlags, type RateLimitFlags, rateLimitWords } from './rate-limit-flags.ts';

/** The flags of a daemon in the foreground or in the background. */
export interface DaemonFlags extends RateLimitFlags {
  dir: string;
  host: string;
  port?: number;
  auth: boolean;
  keepLog?: boolean;
}

const usualHost = '127.0.0.1';

/** Adds the flags of a daemon to a command (docs/contract/command.md); `dir` describes a folder with another default. */
export function addDaemonFlags(command: Command, { dir }: { dir?: string } = {}): Command {
  if (dir === undefined) command.option('--dir <dir>', "the agent's folder", '.');
  else command.option('--dir <dir>', dir);
  command
    .option('--host <host>', 'address to listen on', usualHost)
    .option(
      '--port <port>',
      'port to listen on (default: 8080, one of the ten after it, or any free one)',
      portValue,
    )
    .option('--no-auth', 'allow every caller on this machine')
    .option(
      '--keep-log',
      'continue with a task store that is older than its audit log: keep the log, and end the tasks it names',
    );
  return addRateLimitFlags(command);
}

/** Renders the flags of a daemon as command-line words, without its folder. */
export function daemonWords(options: DaemonFlags): string[] {
  const { host, port, auth, keepLog = false } = options;
  return [
    ...(host === usualHost ? [] : ['--host', host]),
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(auth ? [] : ['--no-auth']),
    ...(keepLog ? ['--keep-log'] : []),
    ...rateLimitWords(options),
  ];
}
