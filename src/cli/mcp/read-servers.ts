import { resolve } from 'node:path';
import { loadConfig } from '../../actors/config/config.ts';
import { type McpServerSettings, SeenTools, SeenToolsError } from '../../actors/tools/tools.ts';
import { assumedEnvironment } from '../../agent/start/lenient-environment.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

export interface McpOptions {
  dir: string;
}

/** Reads an agent's MCP servers and opens the file of seen tools. Rejects with CliError. */
export async function readServers(
  { env }: Session,
  { dir }: McpOptions,
): Promise<{ servers: readonly McpServerSettings[]; seen: SeenTools }> {
  const directory = resolve(dir);
  // Sends no request to a server, so no key is needed.
  const loaded = loadConfig(directory, await assumedEnvironment(directory, env));
  if (!loaded.ok) throw configFailure(loaded.problems, loaded.warnings);
  return { servers: loaded.config.mcp.servers, seen: new SeenTools(directory) };
}

/** Runs a function on the file of seen tools. Throws CliError if the file cannot be read or written. */
export function withSeen<Result>(seen: SeenTools, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    const isUnreadable = error instanceof SeenToolsError;
    const reason = messageOf(error);
    const message = isUnreadable ? reason : `${seen.path} cannot be written: ${reason}`;
    throw new CliError(plainLine(message), {
      code: isUnreadable ? error.code : 'mcp_tools_not_written',
      exitCode: exitCodes.failed,
      hint: 'call this as the user that runs the agent',
      cause: error,
    });
  }
}
