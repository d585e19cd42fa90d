import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readDashboards } from './dashboard-file.ts';
import { readServeFile } from './serve-file.ts';

/** Folders of a workspace that are looked into, as many as the dashboard does. */
const mostFolders = 2_000;

/** Milliseconds for which a look is good; agents and dashboards start and stop meanwhile. */
const goodFor = 250;

/**
 * Returns a function that finds the ports of this machine at which the neighbours of an agent listen: the dashboards of
 * its folder and of the folders above it, and the other agents of the workspace, in the folder above and in those below.
 * It reads their files at most four times a second.
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
  const served = readServeFile(join(folder, '.service'));
  if (served === null) return [];
  const { port, inspector_port: inspector = null } = served;
  return inspector === null ? [port] : [port, inspector];
}

/** A folder and all above it. */
function above(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...above(parent)];
}

/** Lists the folders in a folder; they are listed anew once it has changed. */
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
