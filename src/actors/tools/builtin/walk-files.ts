import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hiddenFrom, type ReadableFiles } from './agent-files.ts';
import type { FolderHandle } from './folder-handle.ts';
import { openFolder } from './open-folder.ts';

/** A found file; valid while its folder is open. */
export interface FoundFile {
  /** Path components from the start of the walk. */
  names: readonly string[];
  folder: FolderHandle;
}

/** Maximum number of entries visited, and maximum depth. */
const most = { entries: 100_000, depth: 40 };

/** The agent's folder exceeds the limits of a search. */
export class WalkTooLongError extends Error {
  readonly code = 'walk_too_long';
}

/**
 * Walks the files below a folder of the agent, sorted by name, without files hidden from tools, `node_modules` and
 * links. Throws WalkTooLongError, or an Error with a `code`.
 */
export async function* walkFiles(
  files: ReadableFiles,
  start: readonly string[],
): AsyncGenerator<FoundFile> {
  const budget = { left: most.entries };
  const root = await openFolder(files, start);
  try {
    yield* below({ files, start, budget }, root, []);
  } finally {
    await root[Symbol.asyncDispose]();
  }
}

interface Walk {
  files: ReadableFiles;
  start: readonly string[];
  budget: { left: number };
}

async function* below(
  walk: Walk,
  folder: FolderHandle,
  names: readonly string[],
): AsyncGenerator<FoundFile> {
  const entries: Dirent[] = await readdir(folder.self, { withFileTypes: true });
  walk.budget.left -= entries.length;
  if (walk.budget.left < 0 || names.length > most.depth) throw new WalkTooLongError();
  for (const entry of entries.toSorted(byName)) {
    const path = [...names, entry.name];
    if (isLeftOut(walk, entry, path)) continue;
    if (entry.isFile()) yield { names: path, folder };
    else if (entry.isDirectory()) yield* inside(walk, folder, path);
  }
}

async function* inside(
  walk: Walk,
  parent: FolderHandle,
  path: readonly string[],
): AsyncGenerator<FoundFile> {
  const folder = await parent.enter(path.at(-1) ?? '').catch(() => null);
  // The folder may be deleted or inaccessible.
  if (folder === null) return;
  try {
    yield* below(walk, folder, path);
  } finally {
    await folder[Symbol.asyncDispose]();
  }
}

/** A name with a line break would look like two files. */
const unsafe = /\p{Cc}/u;

function isLeftOut({ files, start }: Walk, { name }: Dirent, path: readonly string[]): boolean {
  if (name === 'node_modules' || unsafe.test(name)) return true;
  return hiddenFrom(files, [...start, ...path]) !== null;
}

function byName(one: Dirent, other: Dirent): number {
  return one.name < other.name ? -1 : 1;
}
