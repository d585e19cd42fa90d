import type { ReadableFiles } from './agent-files.ts';
import { FolderHandle } from './folder-handle.ts';

/**
 * Opens a folder of the agent one path component at a time and without following links, so that no link can be inserted
 * between the check of a path and its use. Rejects with an Error with a `code`.
 */
export async function openFolder(
  { directory }: ReadableFiles,
  names: readonly string[],
  { isMade = false }: { isMade?: boolean } = {},
): Promise<FolderHandle> {
  let folder = await FolderHandle.open(directory);
  for (const name of names) {
    const parent = folder;
    try {
      if (isMade) await parent.make(name);
      folder = await parent.enter(name);
    } finally {
      await parent[Symbol.asyncDispose]();
    }
  }
  return folder;
}
