import { lstat, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** Folders that are looked into; a workspace is no home folder. */
const mostFolders = 2_000;

/** Agents that a workspace shows. */
const mostAgents = 200;

/**
 * Finds the folders with an agent in a workspace: itself, and one level down (docs/contract/dashboard.md). Hidden
 * folders, installed packages and links that leave the workspace are passed over. Returns absolute paths, sorted; empty
 * when the workspace cannot be read.
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
  // A link could show a file of elsewhere, and a pipe would be waited for.
  return (await lstat(join(real, 'service.yaml')).catch(() => null))?.isFile() === true;
}
