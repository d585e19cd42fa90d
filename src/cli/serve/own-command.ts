import { commandLine } from '../../actors/command-line.ts';
import type { AgentCommand } from '../../actors/workspace/workspace.ts';

/** Returns the command line of this program with the same Node binary and flags. */
export function ownCommand(env: NodeJS.ProcessEnv): AgentCommand {
  const [, file = ''] = process.argv;
  return {
    file: process.execPath,
    args: [...process.execArgv, file],
    env: { ...env, SERVICE_COMMAND: commandLine('').trim() },
  };
}
