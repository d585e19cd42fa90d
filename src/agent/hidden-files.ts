import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConfigProblem, ConfigReading } from '../actors/config/config.ts';
import { findProgram } from '../actors/process/process.ts';
import { hiddenFromServers } from '../actors/tools/tools.ts';
import { statePaths } from './state-paths.ts';

/**
 * Warns of each file on the command line of an MCP server that the sandbox hides. With `auto`, a machine without
 * bubblewrap hides nothing.
 */
export async function hiddenFileWarnings(
  directory: string,
  { config, problemAt }: Extract<ConfigReading, { ok: true }>,
  writable: readonly string[],
): Promise<ConfigProblem[]> {
  const { sandbox } = config.egress;
  if (sandbox === 'env' || (sandbox === 'auto' && findProgram('bwrap') === null)) return [];
  const agentDirectory = await realpath(directory);
  const hidden = statePaths(config).map((path) => resolve(agentDirectory, path));
  const found = await hiddenFromServers(config.mcp.servers, { agentDirectory, hidden, writable });
  return found.map(({ index, place, message }) =>
    problemAt(['mcp', 'servers', index, ...place], message),
  );
}
