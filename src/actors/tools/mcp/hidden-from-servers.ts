import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isVisible, type SandboxView } from '../sandbox/sandbox.ts';
import { namedFiles } from './server-code.ts';
import { ServerFault } from './server-fault.ts';
import { programOf } from './server-program.ts';
import type { McpServerSettings } from './server-settings.ts';

/** A file of a server's command line that the server cannot see. */
export interface HiddenFile {
  /** Position of the server in the list, and the place of the file in its entry. */
  index: number;
  place: readonly ['command'] | readonly ['args', number];
  message: string;
}

/**
 * Finds the programs and arguments of stdio servers that exist on this machine and that the sandbox hides, so that the
 * server would fail with a missing file.
 */
export async function hiddenFromServers(
  servers: readonly Pick<McpServerSettings, 'name' | 'command' | 'args'>[],
  view: SandboxView,
): Promise<HiddenFile[]> {
  const files = servers.flatMap(({ name, command, args }, index) => {
    if (command === undefined) return [];
    const words = namedFiles(args).map((word, at) => ({
      place: ['args', at] as const,
      path: resolve(view.agentDirectory, word),
    }));
    const program = { place: ['command'] as const, path: pathOf(command, view.agentDirectory) };
    return [program, ...words].map((file) => ({ ...file, name, index }));
  });
  const found = await Promise.all(
    files.map(async ({ index, place, path, name }): Promise<HiddenFile[]> => {
      if (path === null || !existsSync(path) || (await isVisible(path, view))) return [];
      return [{ index, place, message: messageOf(name, path) }];
    }),
  );
  return found.flat();
}

/** Returns the path of a program; `null` for the Node of the daemon, which the sandbox shows, and for a missing one. */
function pathOf(command: string, agentDirectory: string): string | null {
  try {
    const path = programOf(command, agentDirectory);
    return path === process.execPath ? null : path;
  } catch (error) {
    if (error instanceof ServerFault) return null;
    throw error;
  }
}

function messageOf(name: string, path: string): string {
  return `${name} cannot see ${path}, which the sandbox hides; copy it into the folder of the agent, or set egress.sandbox to env`;
}
