import { dirname } from 'node:path';
import type { McpServerSettings } from './server-settings.ts';

/** What an interpreter runs, by the ending of its name. */
export const codeName = /\.(?:[cm]?[jt]sx?|py|rb|sh|bash|pl|php|lua|wasm|jar)$/i;

/**
 * Returns the paths of the programs that MCP servers over stdio are started from, each with its folder, where its
 * parts lie. Paths that are not absolute are relative to the agent's folder.
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

/** Returns the words of a command line, of an option such as `--import=./hook.mjs` what it is set to. */
export function namedFiles(words: readonly string[]): string[] {
  return words.map((word) => word.replace(/^-[^=]*=/, ''));
}
