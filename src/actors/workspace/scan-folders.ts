import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Maximum folders searched; a workspace is not a home folder. */
const mostFolders = 2_000;

/** Maximum agents of a workspace. */
const mostAgents = 200;

/**
 * Finds the agent folders of a workspace: the workspace itself and its direct subfolders (docs/contract/dashboard.md).
 * Skips hidden folders, installed packages and links that leave the workspace. Returns sorted absolute paths; empty if
 * the workspace cannot be read.
 */
export async function scanFolders(root: string): Promise<string[]> {
  const top = await realpath(root).catch(() => null);
  if (top === null) return [];
  const names = await readdir(top).catch(() => []);
  const below = names
    .filter((name) => !name.startsWith('.') && name !== 'node_modules')
    .toSorted()
    .slice(0, mostFolders)
    .map((name) => join(top, name));
  const found: string[] = [];
  for (const folder of [top, ...below]) {
    if (found.length === mostAgents) break;
    if (await holdsAgent(folder, top)) found.push(folder);
  }
  return found.toSorted();
}

async function holdsAgent(folder: string, top: string): Promise<boolean> {
  const real = await realpath(folder).catch(() => null);
  if (real === null || (real !== top && !real.startsWith(`${top}${sep}`))) return false;
  // A link could expose an outside file, and a pipe would block.
  return (await lstat(join(real, 'service.yaml')).catch(() => null))?.isFile() === true;
}
