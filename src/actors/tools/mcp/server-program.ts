import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { findProgram, scriptPath } from '../../process/process.ts';
import { ServerFault } from './server-fault.ts';
import type { McpServerSettings } from './server-settings.ts';

/**
 * Resolves the program of a server: `node` is the daemon's own Node, a path is relative to the agent's folder. Throws
 * ServerFault.
 */
export function programOf(command: string, agentDirectory: string): string {
  if (command === 'node') return process.execPath;
  if (command.includes('/')) return resolve(agentDirectory, command);
  const found = findProgram(command);
  if (found !== null) return found;
  throw new ServerFault(`needs the program ${command}, which is not in ${scriptPath}; install it`, {
    isLasting: true,
  });
}

/** Reports each server whose program is missing on this machine, with its index in the list. */
export function missingPrograms(
  servers: readonly Pick<McpServerSettings, 'name' | 'command'>[],
  agentDirectory: string,
): { index: number; message: string }[] {
  return servers.flatMap(({ name, command }, index) => {
    if (command === undefined) return [];
    try {
      const program = programOf(command, agentDirectory);
      if (statSync(program, { throwIfNoEntry: false })?.isFile() === true) return [];
      return [
        { index, message: `${name} needs the program ${program}, which is no file; fix the path` },
      ];
    } catch (error) {
      if (!(error instanceof ServerFault)) throw error;
      return [{ index, message: `${name} ${error.message}` }];
    }
  });
}
