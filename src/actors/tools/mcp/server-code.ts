import { dirname } from 'node:path';
import type { McpServerSettings } from './server-settings.ts';

/** File extensions of code. */
export const codeName = /\.(?:[cm]?[jt]sx?|py|rb|sh|bash|pl|php|lua|wasm|jar)$/i;

/**
 * Returns the paths of the programs of stdio MCP servers, each with its folder, which contains its parts. Relative
 * paths are resolved against the agent's folder.
 */
export function serverCode(
  servers: readonly Partial<Pick<McpServerSettings, 'command' | 'args'>>[],
): string[] {
  return servers.flatMap(({ command = '', args = [] }) => {
    const named = namedFiles(args).filter((arg) => codeName.test(arg));
    const files = command.includes('/') ? [command, ...named] : named;
    return files.flatMap((file) => [file, dirname(file)]);
  });
}

/** Returns the words of a command line; for an option such as `--import=./hook.mjs`, its value. */
export function namedFiles(words: readonly string[]): string[] {
  return words.map((word) => word.replace(/^-[^=]*=/, ''));
}
