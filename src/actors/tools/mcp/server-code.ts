import { dirname } from 'node:path';
import type { McpServerSettings } from './server-settings.ts';

/** What an interpreter runs, by the ending of its name. */
const codeName = /\.(?:[cm]?[jt]sx?|py|rb|sh|bash|pl|php|lua|wasm|jar)$/i;

/**
 * Returns the paths of the programs that MCP servers over stdio are started from, each with its folder, where its
 * parts lie. Paths that are not absolute are relative to the agent's folder.
 */
export function serverCode(
  servers: readonly Partial<Pick<McpServerSettings, 'command' | 'args'>>[],
): string[] {
  return servers.flatMap(({ command = '', args = [] }) => {
    // Such as the file in --import=./hook.mjs.
    const named = args
      .map((arg) => arg.replace(/^-[^=]*=/, ''))
      .filter((arg) => codeName.test(arg));
    const files = command.includes('/') ? [command, ...named] : named;
    return files.flatMap((file) => [file, dirname(file)]);
  });
}
