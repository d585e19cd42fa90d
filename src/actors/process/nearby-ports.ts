import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readDashboards } from './dashboard-file.ts';
import { mayServe } from './may-serve.ts';
import { readServeFile } from './serve-file.ts';

/** Maximum folders of a workspace that are searched, as in the dashboard. */
const mostFolders = 2_000;

/** Cache lifetime in milliseconds; agents and dashboards start and stop at any time. */
const goodFor = 250;

/**
 * Returns a function that finds the local ports of an agent's neighbours: dashboards of its folder and the folders
 * above it, and other agents of the workspace, in the parent folder and in its subfolders, while their processes run. Reads their files at most
 * four times a second.
 */
export function nearbyPorts(
  directory: string,
  now: () => number = () => performance.now(),
): () => ReadonlySet<number> {
  const listings = new Map<string, { changed: number; folders: string[] }>();
  let ports: ReadonlySet<number> = new Set();
  let lookedAt = -Infinity;
  return () => {
    if (now() - lookedAt < goodFor) return ports;
    const home = realOf(directory);
    const folders = [home, ...foldersIn(home, listings), ...foldersIn(dirname(home), listings)];
    ports = new Set([
      ...above(home).flatMap((folder) => readDashboards(folder).map(({ port }) => port)),
      ...[dirname(home), ...folders].flatMap(portsOf),
    ]);
    lookedAt = now();
    return ports;
  };
}

function portsOf(folder: string): number[] {
  const stateFolder = join(folder, '.service');
  const served = readServeFile(stateFolder);
  if (served === null || !mayServe(served.pid, stateFolder)) return [];
  const { port, inspector_port: inspector = null } = served;
  return inspector === null ? [port] : [port, inspector];
}

/** Returns a folder and all its ancestors. */
function above(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...above(parent)];
}

/** Lists the subfolders of a folder; cached until the folder changes. */
function foldersIn(
  folder: string,
  listings: Map<string, { changed: number; folders: string[] }>,
): string[] {
  const changed = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const known = listings.get(folder);
  if (known?.changed === changed) return known.folders;
  const folders = listed(folder);
  listings.set(folder, { changed, folders });
  return folders;
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
      .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
      .map(({ name }) => join(folder, name))
      .toSorted()
      .slice(0, mostFolders);
  } catch {
    return [];
  }
}

function realOf(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}
