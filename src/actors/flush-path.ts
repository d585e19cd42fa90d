import { open } from 'node:fs/promises';

/** Flushes a file, or a folder's entries, to disk, so that its current content survives a power failure. */
export async function flushPath(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
