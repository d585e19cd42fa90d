import type { ReadableFiles } from './agent-files.ts';
import { FolderHandle } from './folder-handle.ts';

/**
 * Opens a folder of the agent by the names that lead there, one after the other and through no link, so that
 * nobody can put a link in the way between the check of a path and its use. Rejects with an Error with a `code`.
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
