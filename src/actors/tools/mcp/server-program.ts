import { resolve } from 'node:path';
import { findProgram, scriptPath } from '../../process/process.ts';
import { ServerFault } from './server-fault.ts';

/**
 * Finds the program of a server as the settings name it: `node` is the Node of the daemon, a path is relative to the
 * agent's folder. Throws ServerFault.
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
