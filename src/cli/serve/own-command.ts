import { commandLine } from '../../actors/command-line.ts';
import type { AgentCommand } from '../../actors/workspace/workspace.ts';

/** Returns how this very command is called again, on the same Node with the same flags. */
export function ownCommand(env: NodeJS.ProcessEnv): AgentCommand {
  const [, file = ''] = process.argv;
  return {
    file: process.execPath,
    args: [...process.execArgv, file],
    env: { ...env, SERVICE_COMMAND: commandLine('').trim() },
  };
}
